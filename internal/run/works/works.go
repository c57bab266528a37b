// Package works keeps long works on a cluster apart that cannot bear each other: a backup copies streams for minutes, and
// a change of the number of partitions in that time would leave it with half of the URLs.
//
// Each work has a key of its own in the bucket of leases while it lasts, which it renews by compare-and-set, and which the
// server removes once a killed process renews it no more. A work writes its key first, then reads those of the others, and
// gives way if one excludes it: of two that begin at the same moment at least one gives way. At its end it renews the key once more:
// the revision proves that the key was there without a gap, otherwise the work fails with ErrLost.
package works

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"seine/internal/base/jsontext"
	"seine/internal/base/procname"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/jsclient"
)

// Kind of a work.
type Kind string

// The kinds.
const (
	Backup      Kind = "backup"
	Restore     Kind = "restore"
	Repartition Kind = "repartition"
	// Replay is a replay that sends records back to the crawl.
	Replay Kind = "replay"
)

// excluded lists which works a work cannot bear. The pairs that are not listed are harmless:
//   - two backups: both only read, and each has consumers of its own that hold the streams;
//   - two repartitions: the leases of all partitions keep them apart, and a second process goes on at once where a killed one ended;
//   - two replays: each sends a generation of its own, and readers drop records that they have;
//   - a replay to another output: it only reads messages that no work changes, and has no key;
//   - a deletion and a backup: the deletion is a key of seine_crawls, which is copied after the streams, and it is not done before
//     the backup stops holding them, so the restored cluster finishes it;
//   - a deletion and a repartition or a restore: frontiers delete, and none works meanwhile: the repartition has their
//     leases, and CheckRestored keeps them from beginning;
//   - a restore and the others: it has a server without a cluster, and CheckRestored refuses them until it has ended.
var excluded = map[Kind][]Kind{
	Backup:      {Repartition, Replay}, // it would copy the states of two layouts, or a part of the records sent back
	Repartition: {Backup, Replay},      // records sent back go to partitions of the layout that they began with
	Replay:      {Backup, Repartition},
	Restore:     {Restore}, // each begins with the removal of what is there
}

// Errors of Do.
var (
	// ErrExcluded names the work that is in the way.
	ErrExcluded = errors.New("another work is under way")
	// ErrLost is returned where the key of a work was gone before its end: another may have run meanwhile.
	ErrLost = errors.New("another work may have run meanwhile")
)

// keyPrefix is what keys of works begin with; the kind and an ID follow.
const keyPrefix = "work."

// entry is what the key of a work says, for people.
type entry struct {
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// Do does a work on a cluster, and keeps those away that it cannot bear.
func Do(ctx context.Context, b *stages.Bus, kind Kind, do func(context.Context) error) error {
	if err := b.CheckRestored(ctx); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return DoIn(ctx, b, messages.BucketLeases, kind, func(ctx context.Context) error {
		if err := checkLayout(ctx, b, kind); err != nil {
			return err
		}
		return do(ctx)
	}, nil)
}

// checkLayout refuses a work while a repartition is not at its end, even if its process is dead.
func checkLayout(ctx context.Context, b *stages.Bus, kind Kind) error {
	if !slices.Contains(excluded[kind], Repartition) {
		return nil
	}
	_, rev, err := b.ReadKey(ctx, messages.BucketMeta, messages.KeyRepartition)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	l, err := b.Existing(ctx)
	if err == nil && (rev > 0 || l.Moving != 0) {
		err = fmt.Errorf("%s: %w: end `seine repartition` first, or give it up (seine repartition --abandon)", kind, stages.ErrMoving)
	}
	return err //nolint:wrapcheck // says all
}

// DoIn is Do with keys in another bucket, which must remove them after messages.LeaseTTL. Then end, if it is not nil, is called
// once the work is known to be whole, and before others may begin.
func DoIn(ctx context.Context, b *stages.Bus, bucket string, kind Kind, do, end func(context.Context) error) error {
	kv, err := b.Bucket(ctx, bucket)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	w := &work{bus: b, kv: kv, bucket: bucket, kind: kind, key: keyPrefix + string(kind) + "." + nuid.Next()}
	if err := w.begin(ctx); err != nil {
		return err
	}
	defer w.remove(ctx)
	doing, stop := context.WithCancelCause(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		w.renewUntil(doing, stop)
	}()
	err = do(doing)
	lost := context.Cause(doing)
	stop(nil)
	<-renewing
	switch {
	case errors.Is(lost, ErrLost):
		return lost //nolint:wrapcheck // says all
	case err != nil:
		return err
	}
	if err = w.renew(ctx); err == nil && end != nil {
		err = end(ctx)
	}
	return err
}

// work is one that is under way.
type work struct {
	bus    *stages.Bus
	kv     jetstream.KeyValue
	bucket string
	kind   Kind
	key    string
	value  []byte
	rev    uint64
}

// begin writes the key, and returns an error if a work is under way that excludes this one.
func (w *work) begin(ctx context.Context) (err error) {
	if w.value, err = json.Marshal(entry{Host: procname.Instance(), Since: time.Now().UTC().Truncate(time.Second)}); err != nil {
		return fmt.Errorf("encode work: %w", err)
	}
	if w.rev, err = w.kv.Create(ctx, w.key, w.value); err != nil {
		return fmt.Errorf("%s: note that it begins: %w", w.kind, err)
	}
	if err = w.checkOthers(ctx); err != nil {
		w.remove(ctx)
	}
	return err
}

func (w *work) checkOthers(ctx context.Context) error {
	keys, err := w.bus.Keys(ctx, w.bucket)
	if err != nil {
		return fmt.Errorf("%s: list works: %w", w.kind, err)
	}
	for _, key := range keys {
		name, ok := strings.CutPrefix(key, keyPrefix)
		kind, _, _ := strings.Cut(name, ".")
		if !ok || key == w.key || !slices.Contains(excluded[w.kind], Kind(kind)) {
			continue
		}
		text, rev, err := w.bus.ReadKey(ctx, w.bucket, key)
		if err != nil {
			return err //nolint:wrapcheck // says all
		}
		var of entry
		if rev == 0 || jsontext.Unmarshal(text, &of) != nil {
			continue
		}
		return fmt.Errorf("%s: %w: %s by %s since %s: wait until it has ended; after a kill its entry ends within %s",
			w.kind, ErrExcluded, kind, of.Host, of.Since.Format(time.RFC3339), messages.LeaseTTL)
	}
	return nil
}

// renewEvery leaves time for several tries before the key expires.
const renewEvery = messages.LeaseTTL / 4

// renewUntil renews the key until ctx is done, and ends the work if the key is lost.
func (w *work) renewUntil(ctx context.Context, stop context.CancelCauseFunc) {
	for sleep.For(ctx, renewEvery) == nil {
		if err := w.renew(ctx); errors.Is(err, ErrLost) {
			stop(err)
		}
	}
}

// renew writes the key again, in place of what this work wrote last.
func (w *work) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	rev, err := jsclient.Swap(ctx, w.kv, w.key, w.value, w.rev)
	if jsclient.IsConflict(err) { // it is gone, or the answer to a renewal was lost: nobody else writes the key
		if _, rev, err = w.bus.ReadKey(ctx, w.bucket, w.key); err == nil && rev == 0 {
			return fmt.Errorf("%s: %w, as its entry expired (NATS was away, or this process stood still): run it again", w.kind, ErrLost)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: renew the entry that keeps other works away: %w", w.kind, err)
	}
	w.rev = rev
	return nil
}

// remove removes the key; if it cannot, the server does so soon.
func (w *work) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewEvery)
	defer cancel()
	_ = w.kv.Delete(ctx, w.key)
}
