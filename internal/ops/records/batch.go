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

// Position is a position in RECORDS: after message Sequence and the first Parts records of the next
// message.
type Position struct {
	Created  time.Time `json:"created"`
	Sequence uint64    `json:"sequence"`
	Parts    int       `json:"parts,omitempty"`
	// Time is when the message was stored, zero if unknown. It detects that a stream lost its end
	// and reused the sequence.
	Time time.Time `json:"time,omitzero"`
}

// before reports whether p precedes o in the same stream.
func (p Position) before(o Position) bool {
	return p.Sequence < o.Sequence || p.Sequence == o.Sequence && p.Parts < o.Parts
}

// End returns the position after all current messages of RECORDS.
func End(ctx context.Context, bus *stages.Bus) (Position, error) {
	s, err := bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return Position{}, fmt.Errorf("inspect stream RECORDS: %w", err)
	}
	info := s.CachedInfo()
	return Position{Created: info.Created, Sequence: info.State.LastSeq, Time: info.State.LastTime}, nil
}

// Record is a record on RECORDS.
type Record struct {
	// ID is unique to the record, and the same if the record is made again.
	ID    string          `json:"id"`
	Crawl string          `json:"crawl"`
	Kind  string          `json:"kind"`
	Data  json.RawMessage `json:"record"`
}

// Batch is a sequence of records.
type Batch struct {
	Records []Record
	// To is the position after the records, and after following ones that are not selected.
	To Position
	// Missed is the number of messages after the start position that RECORDS no longer has, of any
	// crawl. It is at least 1 if the stream lost its end or was re-created.
	Missed uint64
	// Lost is set if RECORDS no longer has the start position, because it lost its end or was
	// re-created. The batch then begins with messages stored since.
	Lost bool
}

// Bounds of a batch in memory.
const (
	maxBatch  = 4 << 20 // bytes; one message may exceed it
	batchPull = 16      // messages of up to 1 MiB fetched at a time
)

// Extent bounds a batch.
type Extent struct {
	Most int // records
	// Fill is how long to wait for more records after the first.
	Fill time.Duration
	// Upto is the end position, if set. It makes a repeated batch end where the first one did.
	Upto Position
}

// ReadBatch returns the selected records after a position. It does not wait for the first record.
// The stream does not retain messages for it, so purged messages are missed.
func ReadBatch(ctx context.Context, bus *stages.Bus, c Choice, from Position, e Extent) (Batch, error) {
	s, err := bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return Batch{}, fmt.Errorf("inspect stream RECORDS: %w", err)
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
	if len(b.records) == 0 && e.Upto == (Position{}) && b.to.Sequence < info.State.LastSeq { // all were of other crawls
		b.to = Position{Created: b.to.Created, Sequence: info.State.LastSeq, Time: info.State.LastTime}
	}
	return b.Batch(), nil
}

// MayRead returns an error if the selected records cannot be read. If NATS denies it, no reply
// arrives, so ctx should come from Bus.CancelOnDenied.
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

// Batch returns the result.
func (b *batchReader) Batch() Batch {
	return Batch{Records: b.records, To: b.to, Missed: b.missed, Lost: b.lost}
}

// begin determines the start position in the current stream.
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

// lost reports whether the stream no longer has the message of a position: another message has its
// sequence, or none has it yet.
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

// read reads until the batch is full or no message arrives in time.
func (b *batchReader) read(ctx context.Context, bus *stages.Bus) error {
	config := b.choice.from(b.to.Sequence + 1)
	if b.lost && !b.from.Time.IsZero() { // later messages were never read
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

// take reads messages, and waits for more after the first record.
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

// add adds the records of a message, and reports whether the batch is full.
func (b *batchReader) add(md *jetstream.MsgMetadata, subject string, header nats.Header, data []byte) (full bool) {
	seq := md.Sequence.Stream
	whole := &stages.Message{Header: header, Data: data}
	parts, err := whole.Parts()
	if err != nil {
		parts = nil // the writer reports the error
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

// room reports whether the record after a position still fits the batch.
func (b *batchReader) room(at Position) bool {
	if upto := b.extent.Upto; upto != (Position{}) && !at.before(upto) {
		return false
	}
	return len(b.records) < b.extent.Most && b.bytes < maxBatch
}

func (b *batchReader) addRecord(crawl string, m *stages.Message) {
	kind := messages.RecordKind(m.Header, m.Data)
	if b.choice.Kind != "" && kind != b.choice.Kind || messages.CheckRecord(m.Header, m.Data) != nil || !json.Valid(m.Data) {
		return // the writer reports invalid records
	}
	b.records = append(b.records, Record{ID: m.Header.Get(nats.MsgIdHdr), Crawl: crawl, Kind: kind, Data: m.Data})
	b.bytes += len(m.Data)
}
