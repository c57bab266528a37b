package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Position is a place in one life of RECORDS: behind the message Sequence, and so many records of the next one.
type Position struct {
	Created  time.Time `json:"created"`
	Sequence uint64    `json:"sequence"`
	Parts    int       `json:"parts,omitempty"`
	// Time is when the message was stored, zero if that is not known. A stream that lost its end gives its sequence to
	// another message.
	Time time.Time `json:"time,omitzero"`
}

// before reports whether p comes before o in the same life.
func (p Position) before(o Position) bool {
	return p.Sequence < o.Sequence || p.Sequence == o.Sequence && p.Parts < o.Parts
}

// End returns the position behind all that RECORDS has now.
func End(ctx context.Context, bus *stages.Bus) (Position, error) {
	s, err := bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return Position{}, fmt.Errorf("look at RECORDS: %w", err)
	}
	info := s.CachedInfo()
	return Position{Created: info.Created, Sequence: info.State.LastSeq, Time: info.State.LastTime}, nil
}

// Record is a record of RECORDS.
type Record struct {
	// ID is unique to the record, and the same when it is made again.
	ID    string          `json:"id"`
	Crawl string          `json:"crawl"`
	Kind  string          `json:"kind"`
	Data  json.RawMessage `json:"record"`
}

// Batch are records that follow each other.
type Batch struct {
	Records []Record
	// To is the position behind them, and behind what is not of the choice.
	To Position
	// Missed is how many messages RECORDS has not any more, of whichever crawl, that came after the position from
	// which was read; at least 1 if it lost its end, or was re-created.
	Missed uint64
	// Lost says that RECORDS does not have the position from which was read: it lost its end, or was re-created. The
	// batch begins with what it has stored since.
	Lost bool
}

// Bounds of a batch in memory.
const (
	maxBatch  = 4 << 20 // bytes; one message may go beyond it
	batchPull = 16      // messages of up to 1 MiB that are fetched at a time
)

// Extent says how much is read.
type Extent struct {
	Most int // records
	// Fill is how long to wait for more of them once there is one.
	Fill time.Duration
	// Upto ends it, unless that is zero: a batch that is read twice ends where it did.
	Upto Position
}

// ReadBatch returns the records that are chosen and come after a position. It does not wait for the first. The stream
// keeps no messages for it: what is beyond the history of the stream is missed.
func ReadBatch(ctx context.Context, bus *stages.Bus, c Choice, from Position, e Extent) (Batch, error) {
	s, err := bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return Batch{}, fmt.Errorf("look at RECORDS: %w", err)
	}
	b := batchReader{choice: c, extent: e, from: from}
	info := s.CachedInfo()
	if err := b.begin(ctx, s); err != nil {
		return Batch{}, fmt.Errorf("read RECORDS: %w", err)
	}
	if info.State.LastSeq <= b.to.Sequence {
		return b.Batch(), nil
	}
	if err := b.read(ctx, bus); err != nil {
		return Batch{}, fmt.Errorf("read RECORDS: %w", err)
	}
	if len(b.records) == 0 && e.Upto == (Position{}) && b.to.Sequence < info.State.LastSeq { // they are of other crawls
		b.to = Position{Created: b.to.Created, Sequence: info.State.LastSeq, Time: info.State.LastTime}
	}
	return b.Batch(), nil
}

// MayRead returns an error if what is chosen cannot be read. Where NATS refuses it, no answer comes: ctx should be one of
// Bus.CancelOnDenied.
func MayRead(ctx context.Context, bus *stages.Bus, c Choice) error {
	config := c.from(1)
	config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverNewPolicy, 0
	return wrapped(bus.ReadOrdered(ctx, messages.StreamRecords, config, func(c jetstream.Consumer) error {
		_, err := c.Info(ctx)
		return err
	}))
}

// batchReader reads a batch.
type batchReader struct {
	choice   Choice
	extent   Extent
	from, to Position
	records  []Record
	bytes    int
	missed   uint64
	lost     bool
}

// Batch is what was read.
func (b *batchReader) Batch() Batch {
	return Batch{Records: b.records, To: b.to, Missed: b.missed, Lost: b.lost}
}

// begin finds where to begin in the stream as it is.
func (b *batchReader) begin(ctx context.Context, s jetstream.Stream) (err error) {
	info := s.CachedInfo()
	if b.lost, err = b.from.lost(ctx, s); err != nil {
		return err
	}
	b.to = b.from
	switch first := info.State.FirstSeq; {
	case b.lost || b.from.Created.IsZero():
		b.to = Position{Created: info.Created}
		if b.lost {
			b.missed = max(1, b.from.Sequence-min(b.from.Sequence, info.State.LastSeq))
		}
	case first > b.from.Sequence+1:
		b.missed = first - b.from.Sequence - 1
		b.to = Position{Created: info.Created, Sequence: first - 1}
	}
	return nil
}

// lost reports whether a stream does not have a position that it had: another message has its sequence, or none yet.
func (p Position) lost(ctx context.Context, s jetstream.Stream) (bool, error) {
	info := s.CachedInfo()
	switch state := &info.State; {
	case p.Created.IsZero():
		return false, nil
	case !p.Created.Equal(info.Created), p.Sequence > state.LastSeq:
		return true, nil
	case p.Time.IsZero(), p.Sequence < state.FirstSeq:
		return false, nil
	case p.Sequence == state.LastSeq:
		return !p.Time.Equal(state.LastTime), nil
	}
	m, err := s.GetMsg(ctx, p.Sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil // it was removed meanwhile
	}
	return err == nil && !p.Time.Equal(m.Time), err
}

// read reads until the batch is full, or there is nothing more in time.
func (b *batchReader) read(ctx context.Context, bus *stages.Bus) error {
	config := b.choice.from(b.to.Sequence + 1)
	if b.lost && !b.from.Time.IsZero() { // what comes later was never read
		later := b.from.Time.Add(1)
		config.DeliverPolicy, config.OptStartSeq, config.OptStartTime = jetstream.DeliverByStartTimePolicy, 0, &later
	}
	return bus.ReadOrdered(ctx, messages.StreamRecords, config, func(c jetstream.Consumer) error {
		info, err := c.Info(ctx)
		if err != nil || info.NumPending == 0 {
			return err
		}
		it, err := c.Messages(jetstream.PullMaxMessages(batchPull))
		if err != nil {
			return err
		}
		defer it.Stop()
		return b.take(ctx, it)
	})
}

// take takes messages, and waits for more once there is a record.
func (b *batchReader) take(ctx context.Context, it jetstream.MessagesContext) error {
	filling := ctx
	for {
		m, err := it.Next(jetstream.NextContext(filling))
		if err != nil && filling != ctx && filling.Err() != nil && ctx.Err() == nil {
			return nil
		}
		if err != nil {
			return err
		}
		md, err := m.Metadata()
		if err != nil {
			return err
		}
		full := b.add(md, m.Subject(), m.Headers(), m.Data())
		if full || md.NumPending == 0 && (b.extent.Fill == 0 || len(b.records) == 0) {
			return nil
		}
		if filling == ctx && len(b.records) > 0 && b.extent.Fill > 0 {
			var cancel context.CancelFunc
			filling, cancel = context.WithTimeout(ctx, b.extent.Fill)
			defer cancel()
		}
	}
}

// add takes the records of a message, and reports whether the batch is full.
func (b *batchReader) add(md *jetstream.MsgMetadata, subject string, header nats.Header, data []byte) (full bool) {
	seq := md.Sequence.Stream
	whole := &stages.Message{Header: header, Data: data}
	parts, err := whole.Parts()
	if err != nil {
		parts = nil // that is for the writer to tell
	}
	skip := 0
	if seq == b.to.Sequence+1 {
		skip = b.to.Parts
	}
	for i := skip; i < len(parts); i++ {
		at := Position{Created: b.to.Created, Sequence: seq - 1, Parts: i}
		if at.Sequence == b.to.Sequence {
			at.Time = b.to.Time
		}
		if !b.room(at) {
			b.to = at
			return true
		}
		b.addRecord(messages.CrawlOf(subject), parts[i])
	}
	b.to = Position{Created: b.to.Created, Sequence: seq, Time: md.Timestamp.UTC()}
	return !b.room(b.to)
}

// room reports whether the record behind a position may be taken.
func (b *batchReader) room(at Position) bool {
	if upto := b.extent.Upto; upto != (Position{}) && !at.before(upto) {
		return false
	}
	return len(b.records) < b.extent.Most && b.bytes < maxBatch
}

func (b *batchReader) addRecord(crawl string, m *stages.Message) {
	kind := messages.RecordKind(m.Header, m.Data)
	if b.choice.Kind != "" && kind != b.choice.Kind || messages.CheckRecord(m.Header, m.Data) != nil || !json.Valid(m.Data) {
		return // what is no record is for the writer to tell
	}
	b.records = append(b.records, Record{ID: m.Header.Get(nats.MsgIdHdr), Crawl: crawl, Kind: kind, Data: m.Data})
	b.bytes += len(m.Data)
}
