package retention

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Left describes what a stream still has of a deleted crawl.
type Left struct {
	Stream string
	// Readers are the durable consumers that have not acknowledged all of it. It is empty if the
	// messages only wait for a purge or a snapshot.
	Readers []string
}

// String describes what the messages wait for.
func (l Left) String() string {
	if len(l.Readers) == 0 {
		return "stream " + l.Stream + " is purged at the next snapshot of each partition"
	}
	return "stream " + l.Stream + " has messages that " + strings.Join(l.Readers, ", ") + " must process first"
}

// DeletionLeft returns what the streams still have of a deleted crawl, ordered by stream.
func DeletionLeft(ctx context.Context, b *stages.Bus, crawl string, d *messages.Deletion) (left []Left, err error) {
	subjects := subjectsOf(crawl)
	for _, stream := range slices.Sorted(maps.Keys(subjects)) {
		end, ok := d.Streams[stream]
		if !ok || end.Sequence == 0 {
			continue
		}
		m, err := b.ReadFromLeader(ctx, stream, jsclient.Lookup{Seq: 1, Next: subjects[stream]})
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.Seq > end.Sequence {
			continue
		}
		if err != nil {
			return nil, err
		}
		l := Left{Stream: stream}
		if stream != messages.StreamDead { // DEAD is never acknowledged
			if l.Readers, err = behind(ctx, b, stream, end.Sequence); err != nil {
				return nil, err
			}
		}
		left = append(left, l)
	}
	return left, nil
}

// behind returns the durable consumers of a stream that have messages to read up to a sequence.
// Those of all partitions of a reader count as one.
func behind(ctx context.Context, b *stages.Bus, stream string, upto uint64) (names []string, err error) {
	all, err := b.Consumers(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("list the consumers of stream %s: %w", stream, err)
	}
	for _, c := range all {
		if c.Config.Durable != "" && c.AckFloor.Stream < upto && (c.NumPending > 0 || c.NumAckPending > 0) {
			names = append(names, messages.ReaderOf(c.Config.Durable))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
