package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/atomicfile"
	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// headerReplay is a header of each message on the scratch server: the sequence of its original, and
// the numbers of messages read and selected before it.
const headerReplay = "Seine-Replay"

// recordStore stores records in RECORDS: of the scratch server, or of the crawl as a new
// generation. It writes its position to a file after it has stored the records. After a power
// failure the scratch server may lack its last records; they are sent again with the same
// identities, by which JetStream or the writers detect repeats.
type recordStore struct {
	bus        *stages.Bus
	pub        *stages.Publisher
	generation string // "" for the scratch server
	file       string

	stored  atomic.Pointer[storedRecords] // immutable once stored
	known   recentIDs                     // sent records of the generation; a stream may have a page twice
	written time.Time                     // when the file was last written
}

// storedRecords is the state of a recordStore.
type storedRecords struct {
	At      copyPosition     `json:"at"`
	Last    uint64           `json:"last,omitempty"`    // sequence of the last record on the scratch server
	Records int64            `json:"records,omitempty"` // of the generation
	Kinds   map[string]int64 `json:"kinds,omitempty"`
}

// copyPosition is the position of a replay.
type copyPosition struct {
	Sequence uint64 `json:"sequence"` // in the source, 0 for none
	Read     int64  `json:"read"`     // messages of the range, including that one
	Chosen   int64  `json:"chosen"`   // pages or records in them
}

const (
	// recordsShare is the share of RECORDS up to which a replay fills it. The rest is for the
	// crawl, which must not wait for a replay. On the scratch server nothing is refused, so the
	// order of messages is kept.
	recordsShare = 0.75
	recordsWait  = 500 * time.Millisecond
	writeEvery   = 500 * time.Millisecond // interval between writes of the file
)

// openRecordStore returns a store that continues at the position of earlier runs.
func openRecordStore(ctx context.Context, bus *stages.Bus, file, generation string) (*recordStore, error) {
	stored := storedRecords{Kinds: make(map[string]int64)}
	if err := atomicfile.ReadJSON(file, &stored); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read how far the replay has come: %w", err)
	}
	s := &recordStore{bus: bus, pub: stages.NewPublisher(bus, "replay"), generation: generation, file: file}
	s.stored.Store(&stored)
	if generation != "" {
		return s, nil
	}
	if err := s.goBack(ctx, &stored); err != nil {
		return nil, fmt.Errorf("read the position of the replay: %w", err)
	}
	return s, nil
}

// goBack sets the position back to the last message on the scratch server, if that has lost later
// ones.
func (s *recordStore) goBack(ctx context.Context, stored *storedRecords) error {
	stream, err := s.bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return err
	}
	last := stream.CachedInfo().State.LastSeq
	if last >= stored.Last {
		return nil
	}
	stored.Last, stored.At = last, copyPosition{}
	m, err := stream.GetMsg(ctx, max(last, 1))
	if errors.Is(err, jetstream.ErrMsgNotFound) { // start at the beginning
		return nil
	}
	if err == nil {
		_, err = fmt.Sscan(m.Header.Get(headerReplay), &stored.At.Sequence, &stored.At.Read, &stored.At.Chosen)
		stored.At.Sequence-- // part of that message's records may be missing
	}
	return err
}

// at returns the position of the replay.
func (s *recordStore) at() copyPosition { return s.stored.Load().At }

// put waits for room in RECORDS and stores the records of the messages up to a position.
func (s *recordStore) put(ctx context.Context, batch []*nats.Msg, at copyPosition) error {
	was := s.stored.Load()
	stored := storedRecords{At: at, Last: was.Last, Records: was.Records, Kinds: maps.Clone(was.Kinds)}
	if s.generation != "" {
		batch = s.inGeneration(batch, &stored)
	}
	if len(batch) > 0 {
		if err := s.room(ctx); err != nil {
			return err
		}
		// One by one, because batches may be reordered, and readers take the last record as the
		// latest.
		seqs, err := s.pub.PublishSequenced(ctx, batch)
		if err != nil {
			return fmt.Errorf("store records: %w", err)
		}
		stored.Last = max(stored.Last, slices.Max(seqs))
	}
	s.stored.Store(&stored)
	if time.Since(s.written) < writeEvery {
		return nil
	}
	s.written = time.Now()
	return atomicfile.WriteJSON(s.file, &stored)
}

// inGeneration adds the generation to records and counts them. It drops records that were sent
// before.
func (s *recordStore) inGeneration(batch []*nats.Msg, stored *storedRecords) (all []*nats.Msg) {
	for _, m := range batch {
		if s.known.add(m.Header.Get(nats.MsgIdHdr)) {
			continue
		}
		all = append(all, inGeneration(m, s.generation))
		stored.Records++
		stored.Kinds[messages.RecordKind(m.Header, m.Data)]++
	}
	return all
}

// inGeneration returns a copy of a record with a generation.
func inGeneration(m *nats.Msg, generation string) *nats.Msg {
	out := nats.NewMsg(m.Subject)
	out.Header.Set(nats.MsgIdHdr, messages.InGeneration(m.Header.Get(nats.MsgIdHdr), generation))
	if v := m.Header.Get(messages.HeaderRecord); v != "" {
		out.Header.Set(messages.HeaderRecord, v)
	}
	out.Header.Set(messages.HeaderGeneration, generation)
	// Every record of the parser is a JSON object with fields.
	end := len(m.Data) - 1
	out.Data = append(out.Data, m.Data[:end]...)
	out.Data = append(out.Data, `,"`+messages.FieldGeneration+`":`...)
	out.Data = append(jsontext.AppendString(out.Data, generation), '}')
	return out
}

// room waits until the fill of RECORDS is below recordsShare.
func (s *recordStore) room(ctx context.Context) error {
	for said := s.generation == ""; ; {
		stream, err := s.bus.JS.Stream(ctx, messages.StreamRecords)
		if err == nil {
			info := stream.CachedInfo()
			if limit := info.Config.MaxBytes; limit <= 0 || float64(info.State.Bytes) < recordsShare*float64(limit) {
				return nil
			}
			if !said {
				s.bus.Log.Warn("RECORDS is full: waiting for the writers of the crawl")
				said = true
			}
		}
		if err := sleep.For(ctx, recordsWait); err != nil {
			return err
		}
	}
}
