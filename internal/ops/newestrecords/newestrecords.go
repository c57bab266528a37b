// Package newestrecords reads the records that a crawl has made last, from the stream: for a person who wants to see
// what comes out, wherever a writer writes it.
package newestrecords

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Record is a record in the stream.
type Record struct {
	Stored time.Time
	Kind   string
	Line   []byte // JSON
}

// Found is what was found.
type Found struct {
	Records []Record // the newest first
	// Looked is how many messages were looked at, Partial says that there are older ones.
	Looked  int
	Partial bool
}

// Bounds of what is read in a look: messages of one partition, and bytes in all.
const (
	lookMessages = 300
	lookBytes    = 16 << 20
)

// Find returns at most so many of the newest records of a crawl, of one kind or, for "", of all. It looks at
// the end of the stream only, and so may find fewer than there are.
func Find(ctx context.Context, bus *stages.Bus, crawl, kind string, most int) (*Found, error) {
	s, err := bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return nil, fmt.Errorf("open RECORDS: %w", err)
	}
	found, left := new(Found), lookBytes
	for p := range bus.Layout.Partitions {
		if err := found.lookIn(ctx, s, messages.SubjectRecords(crawl, p), kind, &left); err != nil {
			return nil, fmt.Errorf("read RECORDS: %w", err)
		}
	}
	slices.SortStableFunc(found.Records, func(a, b Record) int { return b.Stored.Compare(a.Stored) })
	found.Records = found.Records[:min(len(found.Records), most)]
	return found, nil
}

// lookIn goes back through the messages of a subject that are among the last of the stream.
func (f *Found) lookIn(ctx context.Context, s jetstream.Stream, subject, kind string, left *int) error {
	m, err := s.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err //nolint:wrapcheck // by Find
	}
	from := uint64(1)
	if m.Sequence > lookMessages {
		from = m.Sequence - lookMessages + 1
	}
	f.Partial = f.Partial || from > 1
	for seq := from; seq <= m.Sequence && *left > 0; {
		next, err := s.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err //nolint:wrapcheck // by Find
		}
		f.take(next, kind)
		*left -= len(next.Data)
		seq = next.Sequence + 1
	}
	f.Partial = f.Partial || *left <= 0
	return nil
}

func (f *Found) take(m *jetstream.RawStreamMsg, kind string) {
	f.Looked++
	parts, err := messages.SplitBatch(m.Header, m.Data)
	if err != nil {
		return // a writer makes it a dead letter
	}
	for i := len(parts) - 1; i >= 0; i-- {
		is := messages.RecordKind(parts[i].Header, parts[i].Data)
		if kind == "" || kind == is {
			f.Records = append(f.Records, Record{m.Time, is, parts[i].Data})
		}
	}
}
