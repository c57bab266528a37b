package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/atomicfile"
	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// crawlRecords stores records in RECORDS of the crawl, as those of a new generation. How far it has come is in a file,
// which is written after a batch is stored. A batch that is sent again after a kill has the same identities.
type crawlRecords struct {
	bus        *stages.Bus
	pub        *stages.Publisher
	generation string
	file       string

	sent  atomic.Pointer[sentRecords] // nobody changes it
	known recentIDs                   // of records that were sent: a stream may have a page twice
}

// sentRecords is what was sent.
type sentRecords struct {
	At      copyPosition     `json:"at"`
	Records int64            `json:"records"`
	Kinds   map[string]int64 `json:"kinds"`
}

const (
	// recordsShare is how full RECORDS may be for more to be sent there: the rest is
	// room for the crawl, which must not wait for a replay.
	recordsShare = 0.75
	recordsWait  = 500 * time.Millisecond
)

func newCrawlRecords(bus *stages.Bus, file, generation string) *crawlRecords {
	return &crawlRecords{bus: bus, pub: stages.NewPublisher(bus, "replay"), generation: generation, file: file}
}

// resume reads what the runs before have sent.
func (c *crawlRecords) resume(context.Context) (copyPosition, error) {
	sent := sentRecords{Kinds: make(map[string]int64)}
	if err := atomicfile.ReadJSON(c.file, &sent); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return copyPosition{}, fmt.Errorf("read what was sent: %w", err)
	}
	c.sent.Store(&sent)
	return sent.At, nil
}

// put sends records when RECORDS has room for them.
func (c *crawlRecords) put(ctx context.Context, batch []item) error {
	if err := c.room(ctx); err != nil {
		return err
	}
	was := c.sent.Load()
	sent := sentRecords{At: batch[len(batch)-1].at, Records: was.Records, Kinds: maps.Clone(was.Kinds)}
	var all []*nats.Msg
	for _, o := range batch {
		if c.known.add(o.Header.Get(nats.MsgIdHdr)) {
			continue
		}
		all = append(all, inGeneration(o.Msg, c.generation))
		sent.Records++
		sent.Kinds[messages.RecordKind(o.Header, o.Data)]++
	}
	// Each alone, since a batch may be overtaken: who wants the latest takes the last.
	if _, err := c.pub.PublishSequenced(ctx, all); err != nil {
		return fmt.Errorf("send records back to the crawl: %w", err)
	}
	if err := atomicfile.WriteJSON(c.file, &sent); err != nil {
		return err
	}
	c.sent.Store(&sent)
	return nil
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

// room waits until RECORDS of the crawl is less full than recordsShare.
func (c *crawlRecords) room(ctx context.Context) error {
	for said := false; ; {
		s, err := c.bus.JS.Stream(ctx, messages.StreamRecords)
		if err == nil {
			info := s.CachedInfo()
			if limit := info.Config.MaxBytes; limit <= 0 || float64(info.State.Bytes) < recordsShare*float64(limit) {
				return nil
			}
			if !said {
				c.bus.Log.Warn("RECORDS of the crawl is full of what its writers lack, waiting for them")
				said = true
			}
		}
		if err := sleep.For(ctx, recordsWait); err != nil {
			return err
		}
	}
}
