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

// catchUp brings an opened partition to the ends of its streams.
type catchUp struct{ *partitionLoop }

// begin determines what to replay: the requests in FETCH, if a former owner sent them, and the ends
// of the streams.
func (c catchUp) begin(ctx context.Context, restored bool) (err error) {
	// FETCH comes first: the results of requests that have left it by now are in RESULTS.
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

// end returns the last sequence of a stream to replay: the last message that it holds for the
// partition, or the position of the state if that is higher. The messages between them were purged,
// such as those of a deleted crawl.
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
	return end, nil // otherwise it is another stream, or has lost its tail: the reader starts from the beginning
}

// replay applies the messages that the streams held beyond the state when the partition was opened,
// and then takes over the in-flight requests of a former owner. Nothing is sent before: a request
// to a host may have just ended. The streams are read in parallel, in the order in which their
// messages were stored, so that a request comes after its URL and a result after its request, as
// originally.
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

// tail is the part of one stream to replay.
type tail struct {
	reader *partition.OrderedReader
	at     uint64 // the last message read
	end    uint64 // the last message to replay
	head   *partition.ReaderMessage
}

func (c catchUp) tail(reader *partition.OrderedReader, stream string) *tail {
	t := &tail{reader: reader, end: c.ends[stream]}
	if at := c.state.Positions()[stream]; at.Sequence <= t.end {
		t.at = at.Sequence // unless the stream was re-created; the reader notices that
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

// receive waits for a message of a reader, and answers queries meanwhile.
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

// errReplaced is why a partition that has caught up must be re-created: the snapshot that it was
// restored from is no longer the newest, so later messages may have been purged before they were
// read.
var errReplaced = fmt.Errorf("its snapshot was replaced while it caught up: %w", partition.ErrStale)

// checkOrigin returns errReplaced if a restored state may be incomplete.
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

// pending returns the requests of a partition that are in FETCH, by sequence: a former owner sent
// them. It asks the leader: a request that is missing on a lagging replica would be sent twice.
func pending(ctx context.Context, bus *stages.Bus, p int) (map[uint64]*messages.Request, error) {
	all := make(map[uint64]*messages.Request)
	for m, err := range bus.EachFromLeader(ctx, messages.StreamFetch, messages.SubjectAny("*", p), 1) {
		if err != nil {
			return nil, err
		}
		if req, err := messages.DecodeRequest(m.Data); err == nil && isCanonical(req.URL) { // fetchers take no others
			all[m.Seq] = req
		}
	}
	return all, nil
}

func isCanonical(url string) bool {
	c, err := weburl.CanonicalizeRoute(url)
	return err == nil && c == url
}
