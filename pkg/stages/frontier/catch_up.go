package frontier

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/frontier/state"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// catchUp brings a partition that was opened to the ends of its streams.
type catchUp struct{ *partitionLoop }

// begin finds out what is to be replayed: the requests in FETCH, if a former owner
// sent them, and up to where.
func (c catchUp) begin(ctx context.Context, restored bool) (err error) {
	// FETCH comes first: what has left it by now has its result in RESULTS.
	if restored {
		if c.inherited, err = pending(ctx, c.f.bus, c.partition); err != nil {
			return err
		}
	}
	for _, stream := range []string{messages.StreamURLs, messages.StreamResults} {
		if c.ends[stream], err = c.end(ctx, stream); err != nil {
			return err
		}
	}
	return nil
}

// end is up to where a stream is to be replayed: the last message that it holds for the
// partition, or the position of the state if that is behind it. The messages between were
// purged then, as those of a deleted crawl are.
func (c catchUp) end(ctx context.Context, stream string) (uint64, error) {
	end, err := c.f.bus.LastSequence(ctx, stream, messages.SubjectAny("*", c.partition))
	at := c.state.Positions()[stream]
	if err != nil || at.Sequence <= end {
		return end, err
	}
	s, err := c.f.bus.JS.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("open stream %s: %w", stream, err)
	}
	if info := s.CachedInfo(); info.Created.Equal(at.Created) && info.State.LastSeq >= at.Sequence {
		end = at.Sequence
	}
	return end, nil // else it is another stream, or has lost its tail: the reader begins again
}

// replay applies what the streams held beyond the state when the partition was
// opened, and then takes over the requests that a former owner had in flight. Nothing is
// sent before: a request to a host may have ended a moment ago. The streams are read
// side by side in the order in which their messages were stored, so that a
// request comes after its URL and a result after its request, as they did.
func (c catchUp) replay(ctx context.Context) error {
	began, n := time.Now(), 0
	tails := []*tail{c.tail(c.urls, messages.StreamURLs), c.tail(c.results, messages.StreamResults)}
	for {
		m, err := c.oldest(ctx, tails)
		if err != nil {
			return err
		}
		if m != nil {
			n++
			if err := c.apply(ctx, m); err != nil {
				return err
			}
		}
		if m == nil || c.applied >= state.TurnBytes {
			if err := c.commitTurn(ctx, c.state.Now()); err != nil {
				return err
			}
		}
		if m == nil {
			break
		}
	}
	if n > 1000 || time.Since(began) > time.Second {
		c.log.Info("partition caught up with its streams", "messages", n, "took", time.Since(began).Round(time.Millisecond))
	}
	if err := c.checkOrigin(ctx); err != nil {
		return err
	}
	inFetch := c.inherited
	c.inherited = nil
	return c.state.Resume(inFetch, c.state.Now())
}

// tail is what is to be replayed of one stream.
type tail struct {
	reader *partition.OrderedReader
	at     uint64 // the last message read
	end    uint64 // the last message to replay
	head   *partition.ReaderMessage
}

func (c catchUp) tail(reader *partition.OrderedReader, stream string) *tail {
	t := &tail{reader: reader, end: c.ends[stream]}
	if at := c.state.Positions()[stream]; at.Sequence <= t.end {
		t.at = at.Sequence // unless it is of another life of the stream; the reader finds out
	}
	return t
}

// oldest returns the next message to replay, nil after the last.
func (c catchUp) oldest(ctx context.Context, tails []*tail) (*partition.ReaderMessage, error) {
	var first *tail
	for _, t := range tails {
		if t.head == nil && t.at < t.end {
			var err error
			if t.head, err = c.receive(ctx, t.reader); err != nil {
				return nil, err
			}
			t.at = t.head.Sequence
		}
		if t.head != nil && (first == nil || t.head.Stored.Before(first.head.Stored)) {
			first = t
		}
	}
	if first == nil {
		return nil, nil
	}
	m := first.head
	first.head = nil
	return m, nil
}

// receive waits for a message of a reader, and answers questions meanwhile.
func (c catchUp) receive(ctx context.Context, reader *partition.OrderedReader) (*partition.ReaderMessage, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case m, ok := <-reader.C():
			if !ok {
				return nil, context.Canceled
			}
			return m, nil
		case q := <-c.queries:
			c.answer(q)
		}
	}
}

// errReplaced is why a partition that has caught up is made again: the snapshot that
// it was made of is not the newest any more, so what came after that may have been
// purged before it was read.
var errReplaced = fmt.Errorf("its snapshot was replaced while it caught up: %w", partition.ErrStale)

// checkOrigin returns errReplaced if a state that was restored may lack something.
func (c catchUp) checkOrigin(ctx context.Context) error {
	from, isNew, err := c.f.store.Origin(c.partition)
	if err != nil || !isNew {
		return err
	}
	now, _, err := c.f.snapshots.Newest(ctx, c.partition)
	if err != nil || now.Object != from {
		return cmp.Or(err, errReplaced)
	}
	if from == "" {
		purged, err := c.f.purged(ctx)
		if err != nil || purged != "" {
			return cmp.Or(err, errReplaced)
		}
	}
	return nil
}

// pending returns the requests of a partition that are in FETCH, by identity: a
// former owner has sent them. The leader is asked: one that is missing because a
// replica is behind would be sent once more.
func pending(ctx context.Context, bus *stages.Bus, p int) (map[uint64]*messages.Request, error) {
	all := make(map[uint64]*messages.Request)
	for m, err := range bus.EachFromLeader(ctx, messages.StreamFetch, messages.SubjectAny("*", p), 1) {
		if err != nil {
			return nil, err
		}
		if req, err := messages.DecodeRequest(m.Data); err == nil && isCanonical(req.URL) { // or no fetcher takes it
			all[m.Seq] = req
		}
	}
	return all, nil
}

func isCanonical(url string) bool {
	c, err := weburl.CanonicalizeRoute(url)
	return err == nil && c == url
}
