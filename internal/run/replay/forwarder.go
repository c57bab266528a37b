package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/atomicfile"
	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/partition"
)

// forwarder sends the records that were made at the side back to the crawl, as
// those of a new generation, in order. What it has sent is in a file, with where it
// stands in the stream: that is written after a batch is stored and before it is
// acknowledged. A batch that is sent again after a kill has the same identities.
type forwarder struct {
	from, to   *stages.Bus
	pub        *stages.Publisher
	generation string
	file       string
	log        *slog.Logger

	mu   sync.Mutex
	sent forwarded
	// known are records that are sent: a page that is parsed again makes them again.
	known recentIDs
}

// forwarded is what was sent.
type forwarded struct {
	At      messages.Position `json:"at"` // of RECORDS at the side
	Records int64             `json:"records"`
	Kinds   map[string]int64  `json:"kinds"`
}

const (
	// forwardBatch is how many messages are read before an acknowledgement is waited
	// for.
	forwardBatch = 256
	// forwardShare is how full RECORDS may be for more to be sent there: the rest is
	// room for the crawl, which must not wait for a replay.
	forwardShare = 0.75
	forwardWait  = 500 * time.Millisecond
)

// newForwarder returns one that continues where the file says.
func newForwarder(ctx context.Context, from, to *stages.Bus, file, generation string) (*forwarder, error) {
	f := &forwarder{
		from: from, to: to, pub: stages.NewPublisher(to, "replay"), generation: generation, file: file, log: from.Log,
		sent: forwarded{Kinds: make(map[string]int64)},
	}
	if err := atomicfile.ReadJSON(file, &f.sent); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was sent: %w", err)
	}
	return f, f.remember(ctx)
}

// remember reads which records that were sent are still at the side.
func (f *forwarder) remember(ctx context.Context) error {
	here, err := openReplayStream(ctx, f.from, messages.StreamRecords, new(Selection))
	if err != nil {
		return err
	}
	if f.sent.At.Sequence == 0 {
		return nil
	}
	return here.read(ctx, 1, f.sent.At.Sequence, func(m jetstream.Msg, _ *jetstream.MsgMetadata) error {
		for _, id := range messages.BatchIDs(m.Headers()) {
			f.known.add(id)
		}
		return nil
	})
}

// Run sends until ctx is done.
func (f *forwarder) Run(ctx context.Context) error {
	config := messages.PartitionConsumer("replay", "records", 0)
	config.FilterSubject = "seine.records.*.*"
	feed := partition.NewOrderedReader(f.from, messages.StreamRecords, config, f.sent.At)
	reading, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = feed.Run(reading) }()
	defer func() { stop(); <-done }()
	for {
		batch, err := gather(ctx, feed)
		if err == nil {
			err = f.send(ctx, batch)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("send records back to the crawl: %w", err)
		}
	}
}

var errFeedEnded = errors.New("the copy of the records has ended")

// gather waits for messages and takes those that are there.
func gather(ctx context.Context, feed *partition.OrderedReader) (batch []*partition.ReaderMessage, err error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case m, ok := <-feed.C():
		if !ok {
			return nil, errFeedEnded
		}
		batch = append(batch, m)
	}
	for len(batch) < forwardBatch {
		select {
		case m, ok := <-feed.C():
			if !ok {
				return batch, nil
			}
			batch = append(batch, m)
		default:
			return batch, nil
		}
	}
	return batch, nil
}

func (f *forwarder) send(ctx context.Context, batch []*partition.ReaderMessage) error {
	if err := f.room(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	sent := forwarded{At: batch[len(batch)-1].Position, Records: f.sent.Records, Kinds: make(map[string]int64)}
	for kind, n := range f.sent.Kinds {
		sent.Kinds[kind] = n
	}
	f.mu.Unlock()
	var out []*nats.Msg
	for _, m := range batch {
		records, err := m.Parts()
		if err != nil {
			return fmt.Errorf("message %d at the side: %w", m.Sequence, err)
		}
		for _, r := range records {
			id := r.Header.Get(nats.MsgIdHdr)
			if f.known.add(id) {
				continue
			}
			out = append(out, inGeneration(r, id, f.generation))
			sent.Records++
			sent.Kinds[messages.RecordKind(r.Header, r.Data)]++
		}
	}
	// Each alone, since a batch may be overtaken: who wants the latest takes the last.
	if _, err := f.pub.PublishSequenced(ctx, out); err != nil {
		return err
	}
	if err := atomicfile.WriteJSON(f.file, &sent); err != nil {
		return err
	}
	f.mu.Lock()
	f.sent = sent
	f.mu.Unlock()
	batch[len(batch)-1].Ack()
	return nil
}

// inGeneration returns a record as one of a generation.
func inGeneration(m *stages.Message, id, generation string) *nats.Msg {
	out := nats.NewMsg(m.Subject)
	out.Header.Set(nats.MsgIdHdr, messages.InGeneration(id, generation))
	if v := m.Header.Get(messages.HeaderRecord); v != "" {
		out.Header.Set(messages.HeaderRecord, v)
	}
	out.Header.Set(messages.HeaderGeneration, generation)
	// Every record of the parser is an object with fields.
	end := len(m.Data) - 1
	out.Data = append(out.Data, m.Data[:end]...)
	out.Data = append(out.Data, `,"`+messages.FieldGeneration+`":`...)
	out.Data = append(jsontext.AppendString(out.Data, generation), '}')
	return out
}

// room waits until RECORDS of the crawl is less full than forwardShare.
func (f *forwarder) room(ctx context.Context) error {
	for said := false; ; {
		s, err := f.to.JS.Stream(ctx, messages.StreamRecords)
		if err == nil {
			info := s.CachedInfo()
			if limit := info.Config.MaxBytes; limit <= 0 || float64(info.State.Bytes) < forwardShare*float64(limit) {
				return nil
			}
			if !said {
				f.log.Warn("RECORDS of the crawl is full of what its writers lack, waiting for them")
				said = true
			}
		}
		if err := sleep.For(ctx, forwardWait); err != nil {
			return err
		}
	}
}

// CaughtUp reports whether all records there are have been sent.
func (f *forwarder) CaughtUp(ctx context.Context) (bool, error) {
	s, err := f.from.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return false, fmt.Errorf("look at the records at the side: %w", err)
	}
	return f.totals().At.Sequence >= s.CachedInfo().State.LastSeq, nil
}

func (f *forwarder) totals() forwarded {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

// Err returns nil: whatever keeps it waiting, the crawl's own stages say.
func (f *forwarder) Err() error { return nil }
