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

// headerReplay is a header of each message at the side: the sequence of its original, and how many were read and chosen before that.
const headerReplay = "Seine-Replay"

// recordStore stores records in RECORDS: at the side, or of the crawl as those of a new generation. How far it has come is in
// a file, which is written after what is stored; the server at the side may lose what is younger with the power. What is sent
// again has the same identities, by which JetStream or the writers know repeats.
type recordStore struct {
	bus        *stages.Bus
	pub        *stages.Publisher
	generation string // "" at the side
	file       string

	stored  atomic.Pointer[storedRecords] // must not be changed
	known   recentIDs                     // of records of the generation that were sent: a stream may have a page twice
	written time.Time                     // when the file was
}

// storedRecords is what was stored.
type storedRecords struct {
	At      copyPosition     `json:"at"`
	Last    uint64           `json:"last,omitempty"`    // sequence at the side of the last of them
	Records int64            `json:"records,omitempty"` // of the generation
	Kinds   map[string]int64 `json:"kinds,omitempty"`
}

// copyPosition is how far a replay has come.
type copyPosition struct {
	Sequence uint64 `json:"sequence"` // of the source, 0 for none
	Read     int64  `json:"read"`     // messages of the window, that one included
	Chosen   int64  `json:"chosen"`   // pages or records in them
}

const (
	// recordsShare is how full RECORDS may be for more to be sent there. The rest is room for the crawl, which must not wait for a
	// replay; at the side nothing is refused, and so nothing overtakes.
	recordsShare = 0.75
	recordsWait  = 500 * time.Millisecond
	writeEvery   = 500 * time.Millisecond // the file
)

// openRecordStore returns a store that continues where the runs before have ended.
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
		return nil, fmt.Errorf("look at what the replay has stored: %w", err)
	}
	return s, nil
}

// goBack goes back to the last message that the stream at the side has, if that lost its end.
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
	if errors.Is(err, jetstream.ErrMsgNotFound) { // then from the beginning
		return nil
	}
	if err == nil {
		_, err = fmt.Sscan(m.Header.Get(headerReplay), &stored.At.Sequence, &stored.At.Read, &stored.At.Chosen)
		stored.At.Sequence-- // of which it may be a part
	}
	return err
}

// at is how far the replay has come.
func (s *recordStore) at() copyPosition { return s.stored.Load().At }

// put stores the records of the messages up to a position when RECORDS has room for them.
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
		// Each alone, since a batch may be overtaken: a reader of the latest takes the last.
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

// inGeneration returns records as those of the generation, without those that were sent, and counts them.
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

// inGeneration returns a record as one of a generation.
func inGeneration(m *nats.Msg, generation string) *nats.Msg {
	out := nats.NewMsg(m.Subject)
	out.Header.Set(nats.MsgIdHdr, messages.InGeneration(m.Header.Get(nats.MsgIdHdr), generation))
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

// room waits until RECORDS is less full than recordsShare.
func (s *recordStore) room(ctx context.Context) error {
	for said := s.generation == ""; ; {
		stream, err := s.bus.JS.Stream(ctx, messages.StreamRecords)
		if err == nil {
			info := stream.CachedInfo()
			if limit := info.Config.MaxBytes; limit <= 0 || float64(info.State.Bytes) < recordsShare*float64(limit) {
				return nil
			}
			if !said {
				s.bus.Log.Warn("RECORDS of the crawl is full of what its writers lack, waiting for them")
				said = true
			}
		}
		if err := sleep.For(ctx, recordsWait); err != nil {
			return err
		}
	}
}
