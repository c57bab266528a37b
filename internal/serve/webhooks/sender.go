package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/ops/records"
	"seine/internal/ops/webhook"
	"seine/internal/serve/cluster"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// Intervals of a sender.
const (
	newsPoll    = 500 * time.Millisecond // between checks for new events
	awayWait    = 2 * time.Second        // after a failed check
	refusedWait = time.Minute            // after a denied permission
	readTime    = 15 * time.Second       // to read a batch, in addition to the time for it to fill
)

// sender delivers the posts of one webhook.
type sender struct {
	service *Service
	file    *file
	cancel  context.CancelFunc
	ended   chan struct{}
	read    time.Time // stamp of the stored state that was read to its end
	may     bool      // NATS has permitted this server to read records

	mu    sync.Mutex
	stand State
}

func (s *sender) state() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stand
}

func (s *sender) note(do func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.stand)
}

// run delivers one post after the other until ctx is done.
func (s *sender) run(ctx context.Context) {
	for ctx.Err() == nil {
		d, err := s.next(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.service.log.Debug("cannot read the messages for a webhook", "webhook", s.file.Hook.Name, "error", err)
			s.note(func(st *State) { st.Error = err.Error() })
			_ = sleep.For(ctx, waitAfter(err))
		case d == nil:
			s.note(func(st *State) { st.Error = "" })
			_ = sleep.For(ctx, newsPoll)
		default:
			s.deliver(ctx, d)
		}
	}
}

// waitAfter returns the wait after a failed poll. NATS reports denied permissions to all users of
// the connection, so denied requests are repeated rarely.
func waitAfter(err error) time.Duration {
	if _, refused := errors.AsType[*RecordsRefusedError](err); refused {
		return refusedWait
	}
	return awayWait
}

// next returns the next post after storing it; nil if there is none. The end of a crawl follows the
// records that existed when the end was detected.
func (s *sender) next(ctx context.Context) (*delivery, error) {
	h, p := &s.file.Hook, &s.file.Progress
	if p.Sending != nil {
		return p.Sending, s.restore(ctx, p.Sending)
	}
	var end *End
	if h.Wants(CrawlEnded) {
		end = s.service.ends.next(h, p.Posted)
	}
	if h.Wants(NewRecords) {
		fill := time.Duration(h.Seconds) * time.Second
		if end != nil {
			fill = 0
		}
		b, err := s.batch(ctx, records.Extent{Most: h.Records, Fill: fill})
		if err != nil {
			return nil, err
		}
		if len(b.Records) > 0 {
			return s.begin(&delivery{Event: NewRecords, To: b.To, Missed: b.Missed, ID: batchID(h, p.At)}, b.Records)
		}
		p.At = b.To
		s.note(func(st *State) { st.Missed += b.Missed })
	}
	if end != nil && (!h.Wants(NewRecords) || p.At.Sequence >= end.upto) {
		return s.begin(&delivery{Event: CrawlEnded, End: end, To: p.At, ID: endID(h, end)}, nil)
	}
	return nil, nil
}

// batchID is determined by the position where a batch begins. It includes the time, because a
// stream that lost its end reuses sequences.
func batchID(h *Hook, at records.Position) string {
	return fmt.Sprintf("%s.%x.records.%x.%d.%d.%x", h.Name, h.Created.Unix(), at.Created.Unix(), at.Sequence, at.Parts, at.Time.UnixMicro())
}

func endID(h *Hook, e *End) string {
	return fmt.Sprintf("%s.%x.ended.%s.%d.%d", h.Name, h.Created.Unix(), e.Crawl, e.Run.Run, e.Run.Ended.UnixMilli())
}

// begin stores a post before it is sent.
func (s *sender) begin(d *delivery, batch []records.Record) (*delivery, error) {
	d.Time = time.Now().UTC()
	if err := s.encode(d, batch); err != nil {
		return nil, err
	}
	s.file.Progress.Sending = d
	if err := s.file.save(s.service.dir); err != nil {
		s.file.Progress.Sending = nil
		return nil, err
	}
	return d, nil
}

// restore rebuilds the body of a post that a former server did not complete.
func (s *sender) restore(ctx context.Context, d *delivery) error {
	if d.Event != NewRecords {
		return s.encode(d, nil)
	}
	b, err := s.batch(ctx, records.Extent{Most: s.file.Hook.Records, Upto: d.To})
	if err != nil {
		return err
	}
	d.Missed = max(d.Missed, b.Missed)
	return s.encode(d, b.Records)
}

// post is the body of a post.
type post struct {
	ID      string    `json:"id"`
	Type    Event     `json:"type"`
	Time    time.Time `json:"timestamp"`
	Webhook string    `json:"webhook"`
	Data    any       `json:"data"`
}

// batchData is the data of a post with records.
type batchData struct {
	Records []records.Record `json:"records"`
	// Missed is the number of messages that expired.
	Missed uint64 `json:"missed,omitempty"`
}

func (s *sender) encode(d *delivery, batch []records.Record) (err error) {
	p := post{ID: d.ID, Type: d.Event, Time: d.Time, Webhook: s.file.Hook.Name, Data: d.End}
	if d.Event == NewRecords {
		p.Data = batchData{append([]records.Record{}, batch...), d.Missed}
	}
	if d.body, err = json.Marshal(p); err != nil {
		return fmt.Errorf("encode %s: %w", d.ID, err)
	}
	return nil
}

// batch reads the next batch. It reads stored state to its end once, and again only after a crawl
// ran there.
func (s *sender) batch(ctx context.Context, e records.Extent) (b records.Batch, err error) {
	h, from := &s.file.Hook, s.file.Progress.At
	b.To = from
	stamp := s.service.cluster.Stamp()
	if !stamp.IsZero() && stamp.Equal(s.read) && e.Upto == (records.Position{}) {
		return b, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTime+e.Fill)
	defer cancel()
	if !s.may { // checked even while there is nothing to read
		err = s.service.mayRead(ctx, h)
	}
	if s.may = err == nil; s.may {
		b, err = s.readBatch(ctx, e)
	}
	if errors.Is(err, cluster.ErrEmpty) {
		return records.Batch{To: from}, nil
	}
	if err == nil && len(b.Records) == 0 {
		s.read = stamp
	}
	if b.Lost { // an end is posted after the records that the stream has now
		s.service.ends.forget(nil)
	}
	return b, recordsRefused(err)
}

func (s *sender) readBatch(ctx context.Context, e records.Extent) (b records.Batch, err error) {
	h := &s.file.Hook
	err = s.service.cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) (err error) {
		if s.service.cluster.IsStored(bus) {
			e.Fill = 0 // stored state gets no more records
		}
		b, err = records.ReadBatch(ctx, bus, records.Choice{Crawl: h.Crawl, Kind: h.Kind}, s.file.Progress.At, e)
		return err
	})
	return b, err
}

// deliver sends a post until the receiver accepts it or ctx is done.
func (s *sender) deliver(ctx context.Context, d *delivery) {
	h := &s.file.Hook
	m := &webhook.Message{URL: h.URL, Origin: crawlspec.WebhookOrigin(h.URL), Body: d.body, AllowPrivate: s.service.AllowPrivate, Hint: hint}
	s.note(func(st *State) { st.Since = d.Time })
	for tries := 1; ctx.Err() == nil; tries++ {
		m.Header = h.signed(d.ID, time.Now(), d.body)
		err := webhook.Post(ctx, m)
		if err == nil {
			s.accepted(d)
			return
		}
		if ctx.Err() != nil {
			return
		}
		wait := s.service.Wait(tries)
		s.note(func(st *State) {
			st.Failed++
			st.Tries, st.Error, st.Next = tries, err.Error(), time.Now().Add(wait).UTC()
		})
		s.service.log.Warn("a webhook was not delivered", "webhook", h.Name, "id", d.ID, "tries", tries, "error", err)
		_ = sleep.For(ctx, wait)
	}
}

// accepted records that a post was accepted. If that cannot be stored, the post is repeated after a
// restart.
func (s *sender) accepted(d *delivery) {
	p := &s.file.Progress
	if p.Sending, p.At = nil, d.To; d.End != nil {
		p.Posted[d.End.Crawl] = d.End.key()
	}
	if err := s.file.save(s.service.dir); err != nil {
		s.service.log.Error("cannot store the progress of a webhook", "webhook", s.file.Hook.Name, "error", err)
	}
	s.note(func(st *State) {
		*st = State{Delivered: st.Delivered + 1, Last: time.Now().UTC(), Missed: st.Missed + d.Missed, Failed: st.Failed}
	})
}
