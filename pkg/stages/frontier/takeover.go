package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/state"
	"seine/pkg/stages/jsclient"
	"seine/pkg/stages/partition"
)

// ErrForeignState is returned when the state of a partition is in another
// store than this one, and cannot be made again from a snapshot or from the
// streams.
var ErrForeignState = errors.New("the state of this partition is in another frontier's store")

// takeOver makes sure that the store has the state of a partition, and that it
// is the only one that continues with it. The binding of the partition says where
// its state is. If that is another store, the newest snapshot is taken in, and
// what happened since is replayed from the streams: see replay. So it is if this
// store has lost its last commits with the power of its machine, and is behind the
// snapshot. It reports whether the replay is still to be done.
func (f *Frontier) takeOver(ctx context.Context, p int, epoch uint64) (restored bool, err error) {
	bound, err := f.snapshots.Binding(ctx, p)
	if err != nil {
		return false, err
	}
	own := bound.Store == "" || bound.Store == f.store.ID
	if !own || f.cfg.SnapshotEvery > 0 {
		if err := f.takeIn(ctx, p, epoch, own, bound.Store); err != nil {
			return false, err
		}
	}
	if _, err = f.snapshots.Rebind(ctx, p, bound, f.store.ID, epoch); err != nil {
		return false, err
	}
	_, restored, err = f.store.Origin(p)
	return restored, err
}

// restoreTries bounds how often a snapshot that is gone is looked for again.
const restoreTries = 5

// takeIn brings the state of a partition to that of its newest snapshot, unless the
// store has the live state of its own. The snapshot is fenced first: else an owner
// that has lost the partition, and does not know, could replace it at any moment,
// and what the streams have since be purged.
func (f *Frontier) takeIn(ctx context.Context, p int, epoch uint64, own bool, from string) error {
	for try := 1; ; try++ {
		snap, found, err := f.snapshots.Fence(ctx, p, epoch)
		if err != nil {
			return err
		}
		if own {
			if usable, err := f.usable(p, snap, found); usable || err != nil {
				return err
			}
		}
		if err = f.restore(ctx, p, snap, found, from); err == nil {
			return f.store.MarkNew(p, snap.Object)
		}
		if !errors.Is(err, partition.ErrSnapshotGone) || try == restoreTries {
			return f.withoutSnapshot(p, own, from, err)
		}
		now, _, nerr := f.snapshots.Newest(ctx, p)
		if nerr != nil || now.Object == snap.Object { // it was not replaced, it is lost
			return f.withoutSnapshot(p, own, from, errors.Join(err, nerr))
		}
	}
}

// withoutSnapshot adds to the error of a snapshot that is damaged or lost where the
// state can be had from instead. To continue without it would lose URLs.
func (f *Frontier) withoutSnapshot(p int, own bool, from string, err error) error {
	switch {
	case !errors.Is(err, partition.ErrSnapshotDamaged) && !errors.Is(err, partition.ErrSnapshotGone):
		return err
	case own:
		return fmt.Errorf("%w; the --state of this frontier (%s) has partition %d as it was before that: restore a backup of the bucket %s",
			err, f.store.ID, p, messages.BucketSnapshots)
	}
	return fmt.Errorf("%w; the state of partition %d itself is with frontier %s, not %s: start that with the --state it had, or restore a backup of the bucket %s",
		err, p, from, f.store.ID, messages.BucketSnapshots)
}

// usable reports whether the store's own state can continue, beside the newest snapshot.
func (f *Frontier) usable(p int, snap partition.Snapshot, found bool) (bool, error) {
	if !found {
		return true, nil
	}
	return f.store.Usable(p, snap.Object, snap.Positions)
}

// restore makes the state of a partition that of its newest snapshot, or empty if
// there is none and the streams have everything.
func (f *Frontier) restore(ctx context.Context, p int, snap partition.Snapshot, found bool, from string) error {
	began := time.Now()
	if !found {
		purged, err := f.purged(ctx)
		if err != nil {
			return err
		}
		if purged != "" {
			return fmt.Errorf("%w: %s, not %s (start it with the --state it had; or let frontiers make snapshots, with --snapshot-every)",
				ErrForeignState, from, f.store.ID)
		}
		f.log.Info("partition has no snapshot yet, reading its streams from their beginning", "partition", p)
		return f.store.Replace(ctx, p, nil)
	}
	if err := f.loadSnapshot(ctx, p, snap); err != nil {
		return err
	}
	f.log.Info("partition restored from its snapshot", "partition", p, "age", time.Since(snap.Time).Round(time.Second),
		"bytes", snap.Bytes, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// errReplaced is why a partition that has caught up is made again: the snapshot that
// it was made of is not the newest any more, so what came after that may have been
// purged before it was read.
var errReplaced = fmt.Errorf("its snapshot was replaced while it caught up: %w", partition.ErrStale)

// checkOrigin returns errReplaced if a state that was restored may lack something.
func (p *partitionLoop) checkOrigin(ctx context.Context) error {
	from, isNew, err := p.f.store.Origin(p.partition)
	if err != nil || !isNew {
		return err
	}
	now, _, err := p.f.snapshots.Newest(ctx, p.partition)
	if err != nil || now.Object != from {
		return cmp.Or(err, errReplaced)
	}
	if from == "" {
		purged, err := p.f.purged(ctx)
		if err != nil || purged != "" {
			return cmp.Or(err, errReplaced)
		}
	}
	return nil
}

// loadSnapshot brings a partition of the store to the state of a snapshot.
func (f *Frontier) loadSnapshot(ctx context.Context, p int, snap partition.Snapshot) error {
	if snap.Format != state.Format {
		return fmt.Errorf("snapshot of partition %d has format %d, this build reads %d", p, snap.Format, state.Format)
	}
	r, err := f.snapshots.Open(ctx, snap)
	if err != nil {
		return err
	}
	defer r.Close()
	return f.store.Replace(ctx, p, r)
}

// purged returns where a stream begins from which something was purged that the frontier reads, "" if nothing was.
func (f *Frontier) purged(ctx context.Context) (string, error) {
	for _, name := range []string{messages.StreamURLs, messages.StreamResults} {
		s, err := f.bus.JS.Stream(ctx, name)
		if err != nil {
			return "", fmt.Errorf("open stream %s: %w", name, err)
		}
		if st := s.CachedInfo().State; st.FirstSeq > 1 {
			return fmt.Sprintf("%s begins at sequence %d, stored %s", name, st.FirstSeq, st.FirstTime.UTC().Format(time.RFC3339)), nil
		}
	}
	return "", nil
}

// pending returns the requests of a partition that are in FETCH, by identity: a
// former owner has sent them. The leader is asked: one that is missing because a
// replica is behind would be sent once more.
func pending(ctx context.Context, bus *stages.Bus, p int) (map[uint64]*messages.Request, error) {
	all := make(map[uint64]*messages.Request)
	subject := messages.SubjectAny("*", p)
	for seq := uint64(1); ; seq++ {
		m, err := bus.ReadFromLeader(ctx, messages.StreamFetch, jsclient.Lookup{Seq: seq, Next: subject})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if req, err := messages.DecodeRequest(m.Data); err == nil && isCanonical(req.URL) { // or no fetcher takes it
			all[m.Seq] = req
		}
		seq = m.Seq
	}
}

func isCanonical(url string) bool {
	c, err := weburl.Canonicalize(url)
	return err == nil && c == url
}

// replay applies what the streams held beyond the state when the partition was
// opened, and then takes over what a former owner had under way. Nothing is
// sent before: a host might have been asked a moment ago. The streams are read
// side by side in the order in which their messages were stored, so that a
// request comes after its URL and a result after its request, as they did.
func (p *partitionLoop) replay(ctx context.Context) error {
	began, n := time.Now(), 0
	tails := []*tail{p.tail(p.urls, messages.StreamURLs), p.tail(p.results, messages.StreamResults)}
	for {
		m, err := p.oldest(ctx, tails)
		if err != nil {
			return err
		}
		if m != nil {
			n++
			if err := p.apply(m); err != nil {
				return err
			}
		}
		if m == nil || p.applied >= state.TurnBytes {
			if err := p.commitTurn(ctx, p.state.Now()); err != nil {
				return err
			}
		}
		if m == nil {
			break
		}
	}
	if err := p.finishPostponed(ctx); err != nil {
		return err
	}
	if n > 1000 || time.Since(began) > time.Second {
		p.log.Info("partition caught up with its streams", "messages", n, "took", time.Since(began).Round(time.Millisecond))
	}
	if err := p.checkOrigin(ctx); err != nil {
		return err
	}
	return p.goOn()
}

// finishPostponed applies all that waits for removals: what is in progress may be of it.
func (p *partitionLoop) finishPostponed(ctx context.Context) error {
	for p.state.Postponed.Any() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case q := <-p.queries:
			p.handleQuery(q)
		default:
		}
		now := p.state.Now()
		if err := p.state.Postponed.Remove(now); err != nil {
			return err
		}
		if err := p.applyWaited(now); err != nil {
			return err
		}
		if err := p.commitTurn(ctx, now); err != nil {
			return err
		}
	}
	return nil
}

func (p *partitionLoop) tail(reader *partition.OrderedReader, stream string) *tail {
	t := &tail{reader: reader, end: p.ends[stream]}
	if at := p.state.Positions()[stream]; at.Sequence <= t.end {
		t.at = at.Sequence // unless it is of another life of the stream; the reader finds out
	}
	return t
}

// tail is what is to be replayed of one stream.
type tail struct {
	reader *partition.OrderedReader
	at     uint64 // the last message read
	end    uint64 // the last message to replay
	head   *partition.ReaderMessage
}

// oldest returns the next message to replay, nil after the last.
func (p *partitionLoop) oldest(ctx context.Context, tails []*tail) (*partition.ReaderMessage, error) {
	var first *tail
	for _, t := range tails {
		if t.head == nil && t.at < t.end {
			var err error
			if t.head, err = p.receive(ctx, t.reader); err != nil {
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
func (p *partitionLoop) receive(ctx context.Context, reader *partition.OrderedReader) (*partition.ReaderMessage, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case m, ok := <-reader.C():
			if !ok {
				return nil, context.Canceled
			}
			return m, nil
		case q := <-p.queries:
			p.handleQuery(q)
		}
	}
}

// goOn continues with what is in progress, now that all is applied.
func (p *partitionLoop) goOn() error {
	inFetch := p.foreign
	p.foreign = nil
	return p.state.Resume(inFetch, p.state.Now())
}
