// Package works keeps operations on a cluster apart that must not run together. For example, a
// backup that copies streams while a replay sends records back would contain a part of them.
//
// Each operation has a key in the bucket of leases. It renews the key by compare-and-set, and the
// server removes the key when a killed process no longer renews it. An operation writes its key
// first, then reads the other keys, and gives up if one excludes it: of two operations that begin
// at the same moment, at least one gives up. At its end it renews the key once more: an unchanged
// revision proves that there was no gap. After a gap, a replay continues unless another operation
// excludes it; other operations fail with ErrLost.
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

// The kinds of operations.
const (
	Backup  = "backup" // see messages.KeyBackups
	Restore = "restore"
	Replay  = "replay" // a replay that sends records back to the crawl
)

// excluded lists the kinds that an operation must not run beside. The other pairs are harmless:
//   - two backups only read, and no Janitor purges a stream until both have ended;
//   - two replays send a generation each; a replay to another output only reads unchanging data, and has no key;
//   - a deletion beside a backup is a key that is copied after the streams, and not done before the backup has ended: the restored cluster finishes it. Beside a restore no frontier works, and only frontiers delete;
//   - a restore has a server without a cluster, and stages.Bus.CheckRestored refuses all others until it has ended.
var excluded = map[string][]string{
	Backup:  {Replay}, // it would copy a part of the records sent back
	Replay:  {Backup},
	Restore: {Restore}, // each first removes the existing streams
}

var (
	// ErrExcluded is returned if a conflicting operation is in progress.
	ErrExcluded = errors.New("another operation is in progress")
	// ErrLost is returned if the key of an operation disappeared before its end.
	ErrLost = errors.New("another work may have run meanwhile, as NATS was away or this process was suspended: run it again")
)

const renewEvery = messages.LeaseTTL / 4 // leaves time for several attempts

// Do runs an operation and keeps conflicting ones away. The key of a restore is in the bucket that
// marks it, which Do removes at the end.
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
	switch { // detects a gap
	case ctx.Err() == nil:
		err = jsclient.RetryUnavailable(ctx, w.renew)
	case kind != Replay: // a replay reports the interruption itself
		err = ctx.Err()
	}
	if err == nil && kind == Restore {
		err = b.JS.DeleteKeyValue(ctx, w.bucket)
	}
	return err
}

// work is an operation in progress.
type work struct {
	bus               *stages.Bus
	kv                jetstream.KeyValue
	bucket, kind, key string
	value             []byte
	rev               uint64
	gap               bool // the key was gone, and conflicting operations have not been checked since
}

// renewing calls do and renews the key meanwhile. It cancels the context of do if a conflicting
// operation may run.
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

// isFinal reports whether the error of a renewal must end the operation. Other errors are of
// temporary outages.
func isFinal(err error) bool {
	for _, of := range []error{ErrLost, ErrExcluded, installation.ErrOther} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// checkOthers returns an error if a conflicting operation is in progress.
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

// renew replaces the key's last revision. A replay re-creates a missing key, unless it is excluded
// now or the server has another installation; the result of a replay does not depend on operations
// that ran in the gap.
func (w *work) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	rev, err := jsclient.Swap(ctx, w.kv, w.key, w.value, w.rev)
	switch {
	case jsclient.IsConflict(err): // the key is gone, or the reply to a renewal was lost; no other process writes the key
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

// remove deletes the key. If it fails, the server expires the key soon.
func (w *work) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewEvery)
	defer cancel()
	_ = w.kv.Delete(ctx, w.key)
}
