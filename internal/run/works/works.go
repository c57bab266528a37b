// Package works keeps long works on a cluster apart that cannot bear each other: a backup that copies streams while a replay sends
// records back would have a part of them.
//
// Each work has a separate key in the bucket of leases, which it renews by compare-and-set, and which the server removes once a
// killed process renews it no more. A work writes its key first, then reads those of the others, and gives way if one excludes it: of
// two that begin at the same moment at least one does. At its end it renews the key once more: that its revision is still there proves
// that there was no gap. After a gap, a replay continues unless another work excludes it; other works fail with ErrLost.
package works

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"seine/internal/base/installation"
	"seine/internal/base/procname"
	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// The kinds of works.
const (
	Backup  = "backup" // see messages.KeyBackups
	Restore = "restore"
	Replay  = "replay" // one that sends records back to the crawl
)

// excluded lists which works a work cannot bear. The pairs that are not listed are harmless:
//   - two backups only read, and no Janitor purges anything until both have ended;
//   - two replays send a generation each; a replay to another output only reads what no work changes, and has no key;
//   - a deletion beside a backup is a key that is copied after the streams, and not done before the backup has ended:
//     the restored cluster finishes it. Beside a restore no frontier works, and only frontiers delete;
//   - a restore has a server without a cluster, and stages.Bus.CheckRestored refuses all others until it has ended.
var excluded = map[string][]string{
	Backup:  {Replay}, // it would copy a part of the records sent back
	Replay:  {Backup},
	Restore: {Restore}, // each removes first what is there
}

var (
	// ErrExcluded is returned where another work is in the way.
	ErrExcluded = errors.New("another operation is in progress")
	// ErrLost is returned where the key of a work was gone before its end.
	ErrLost = errors.New("another work may have run meanwhile, as NATS was away or this process was suspended: run it again")
)

const renewEvery = messages.LeaseTTL / 4 // leaves time for several tries

// Do does a work of a kind on a cluster, and keeps those away that it cannot bear. A restore has its key in the bucket that marks it,
// which is removed at its end.
func Do(ctx context.Context, b *stages.Bus, kind string, do func(context.Context) error) error {
	w := &work{bus: b, bucket: messages.BucketLeases, kind: kind, key: messages.KeyWorks + kind + "." + nuid.Next()}
	if kind == Restore {
		w.bucket = messages.BucketRestore
	} else if err := b.CheckRestored(ctx); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	var err error
	if w.kv, err = b.Bucket(ctx, w.bucket); err != nil {
		return err
	}
	w.value = fmt.Appendf(nil, "%s since %s", procname.Instance(), time.Now().UTC().Format(time.RFC3339))
	if w.rev, err = w.kv.Create(ctx, w.key, w.value); err != nil {
		return fmt.Errorf("%s: store the key of the work: %w", kind, err)
	}
	defer w.remove(ctx)
	if err := w.checkOthers(ctx); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if err := w.renewing(ctx, do); err != nil {
		return err
	}
	switch { // has there been a gap?
	case ctx.Err() == nil:
		err = jsclient.RetryUnavailable(ctx, w.renew)
	case kind != Replay: // which reports that it was interrupted
		err = ctx.Err()
	}
	if err == nil && kind == Restore {
		err = b.JS.DeleteKeyValue(ctx, w.bucket)
	}
	return err
}

// work is a work in progress.
type work struct {
	bus               *stages.Bus
	kv                jetstream.KeyValue
	bucket, kind, key string
	value             []byte
	rev               uint64
	gap               bool // the key was gone, and others have not been looked for since
}

// renewing calls do, and renews the key meanwhile. The context of do ends if another work may run.
func (w *work) renewing(ctx context.Context, do func(context.Context) error) error {
	doing, stop := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for sleep.For(doing, renewEvery) == nil {
			if err := w.renew(doing); isFinal(err) {
				stop(err)
			}
		}
	})
	err := do(doing)
	if cause := context.Cause(doing); isFinal(cause) {
		err = cause
	}
	stop(nil)
	renewing.Wait()
	return err
}

// isFinal reports whether a work must end because of the error of a renewal. Others are of outages, which pass.
func isFinal(err error) bool {
	for _, of := range []error{ErrLost, ErrExcluded, installation.ErrOther} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// checkOthers returns an error if a work is in progress that excludes this one.
func (w *work) checkOthers(ctx context.Context) error {
	keys, err := w.bus.Keys(ctx, w.bucket)
	for _, key := range keys {
		name, ok := strings.CutPrefix(key, messages.KeyWorks)
		kind, _, _ := strings.Cut(name, ".")
		if !ok || key == w.key || !slices.Contains(excluded[w.kind], kind) {
			continue
		}
		if text, rev, err := w.bus.ReadKey(ctx, w.bucket, key); err != nil || rev > 0 {
			return errors.Join(err, fmt.Errorf("%w: %s by %s: wait until it has ended; after a kill, %s", ErrExcluded, kind, text, messages.LeaseTTL))
		}
	}
	return err
}

// renew writes the key again, in place of what this work wrote last. A replay stores a key that is gone again, unless it is excluded
// by now or the server has another installation: what was copied meanwhile does not depend on it.
func (w *work) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	rev, err := jsclient.Swap(ctx, w.kv, w.key, w.value, w.rev)
	switch {
	case jsclient.IsConflict(err): // it is gone, or the answer to a renewal was lost: nobody else writes the key
		if _, rev, err = w.bus.ReadKey(ctx, w.bucket, w.key); err == nil && rev == 0 {
			w.gap = true
			rev, err = w.kv.Create(ctx, w.key, w.value)
		}
	case err != nil && w.kind == Restore && w.bus.CheckRestored(ctx) == nil: // another restore has ended
		err = ErrLost
	}
	if err == nil && w.gap {
		err = ErrLost
		if w.kind == Replay {
			err = errors.Join(w.checkOthers(ctx), w.bus.CheckInstallation(ctx))
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.kind, err)
	}
	w.rev, w.gap = rev, false
	return nil
}

// remove removes the key; if it cannot, the server does so soon.
func (w *work) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewEvery)
	defer cancel()
	_ = w.kv.Delete(ctx, w.key)
}
