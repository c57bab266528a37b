package records

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

// Recent is a record in the stream.
type Recent struct {
	Stored time.Time
	Kind   string
	Line   []byte // JSON
}

// Bounds for reading the end of the stream: messages of all crawls, and bytes.
const (
	lookMessages = 1024
	lookBytes    = 16 << 20
)

// Newest returns up to most of the newest selected records, the newest first. It reads the end of
// RECORDS, independent of the writers' destinations. partial is set if there may be older ones.
func Newest(ctx context.Context, bus *stages.Bus, c Choice, most int) (found []Recent, partial bool, err error) {
	s, err := bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return nil, false, fmt.Errorf("open RECORDS: %w", err)
	}
	last, err := lastOf(ctx, s, c.Crawl, bus.Layout.Partitions)
	if err != nil || last == 0 {
		return nil, false, wrapped(err)
	}
	for look := uint64(lookMessages); ; look /= 4 {
		from := max(last, look) - look + 1
		found, whole, err := c.upto(ctx, bus, from, last)
		if err != nil {
			return nil, false, wrapped(err)
		}
		if !whole && look > 4 { // the messages are large, so fewer fit the bound
			continue
		}
		slices.Reverse(found)
		return found[:min(len(found), most)], from > 1 || len(found) > most, nil
	}
}

func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read RECORDS: %w", err)
}

// lastOf returns the sequence of the last message of a crawl, 0 if there is none.
func lastOf(ctx context.Context, s jetstream.Stream, crawl string, partitions int) (last uint64, err error) {
	for p := range partitions {
		m, err := s.GetLastMsgForSubject(ctx, messages.SubjectRecords(crawl, p))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		last = max(last, m.Sequence)
	}
	return last, nil
}

// upto returns the selected records between two sequences, the oldest first, and whether it has
// read all of them.
func (c Choice) upto(ctx context.Context, bus *stages.Bus, from, last uint64) (found []Recent, whole bool, err error) {
	left := lookBytes
	err = bus.EachOrdered(ctx, messages.StreamRecords, c.from(from), tailPull, func(m jetstream.Msg, at *jetstream.MsgMetadata) bool {
		for _, p := range c.parts(m) {
			found = append(found, Recent{at.Timestamp, messages.RecordKind(p.Header, p.Data), p.Data})
		}
		left -= len(m.Data())
		whole = at.Sequence.Stream >= last || at.NumPending == 0
		return !whole && left > 0
	})
	return found, whole, err
}
