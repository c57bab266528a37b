package works

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/installation"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func cluster(t *testing.T) *stages.Bus {
	t.Helper()
	b, _ := stagestest.Dial(t, natstest.NewBroker(t).URL())
	must(t, b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1))
	return b
}

func nothing(context.Context) error { return nil }

// keysOf returns the existing keys of works.
func keysOf(t *testing.T, b *stages.Bus) (all []string) {
	t.Helper()
	keys, err := b.Keys(t.Context(), messages.BucketLeases)
	must(t, err)
	for _, key := range keys {
		if strings.HasPrefix(key, messages.KeyWorks) {
			all = append(all, key)
		}
	}
	return all
}

// For each ordered pair of works, the second either runs beside the first, or is refused with the
// first one's name.
func TestPairsOfWorks(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	begin := func(kind string, do func(context.Context) error) error {
		if kind == Restore {
			_, err := b.JS.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: messages.BucketRestore, TTL: messages.LeaseTTL})
			must(t, err)
		}
		return Do(t.Context(), b, kind, do)
	}
	refused := map[[2]string]error{
		{Backup, Replay}: ErrExcluded, {Replay, Backup}: ErrExcluded,
		{Restore, Restore}: ErrExcluded,
		{Restore, Backup}:  stages.ErrRestoring, {Restore, Replay}: stages.ErrRestoring,
	}
	kinds := []string{Backup, Restore, Replay}
	for _, first := range kinds {
		for _, second := range kinds {
			t.Run(first+" then "+second, func(t *testing.T) {
				must(t, begin(first, func(context.Context) error {
					want, err := refused[[2]string{first, second}], begin(second, nothing)
					if !errors.Is(err, want) || errors.Is(want, ErrExcluded) && !strings.Contains(err.Error(), ": "+first+" by ") {
						t.Errorf("%s during %s: %v, want %v", second, first, err, want)
					}
					if second == Restore && first != Restore || want != nil {
						return nil
					}
					return err
				}))
				must(t, begin(second, nothing)) // after the end of the first
			})
		}
	}
	if left := keysOf(t, b); len(left) > 0 {
		t.Errorf("keys %v are left", left)
	}
}

// A work whose entry the server has removed, as after a kill, blocks nobody, and its results do not
// count.
func TestWorkWhoseEntryExpired(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	kv, err := b.Bucket(t.Context(), messages.BucketLeases)
	must(t, err)
	err = Do(t.Context(), b, Backup, func(ctx context.Context) error {
		keys := keysOf(t, b)
		if len(keys) != 1 {
			t.Fatalf("keys of works: %v", keys)
		}
		must(t, kv.Purge(ctx, keys[0]))
		return Do(ctx, b, Replay, nothing)
	})
	if !errors.Is(err, ErrLost) {
		t.Errorf("a backup beside a replay ended with %v, want %v", err, ErrLost)
	}
}

// A replay whose entry expired during an outage of NATS or a suspension of the process continues,
// unless a work that excludes it is running by then or the server has another installation.
func TestReplayWhoseEntryExpired(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	kv, err := b.Bucket(t.Context(), messages.BucketLeases)
	must(t, err)
	replay := func(name string, want error, meanwhile func(context.Context) error) {
		t.Run(name, func(t *testing.T) {
			err := Do(t.Context(), b, Replay, func(ctx context.Context) error {
				keys := keysOf(t, b)
				if len(keys) != 1 {
					t.Fatalf("keys of works: %v", keys)
				}
				must(t, kv.Purge(ctx, keys[0]))
				return meanwhile(ctx)
			})
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
	replay("nothing else has run", nil, nothing)
	replay("a backup has run", nil, func(ctx context.Context) error { return Do(ctx, b, Backup, nothing) })
	release, ended := make(chan struct{}), make(chan error, 1)
	replay("a backup runs", ErrExcluded, func(ctx context.Context) error {
		began := make(chan struct{})
		go func() {
			ended <- Do(context.WithoutCancel(ctx), b, Backup, func(context.Context) error {
				close(began)
				<-release
				return nil
			})
		}()
		<-began
		return nil
	})
	close(release)
	must(t, <-ended)
	replay("the server has another installation", installation.ErrOther, func(ctx context.Context) error {
		kv, err := b.Bucket(ctx, messages.BucketMeta)
		must(t, err)
		other := b.Layout
		other.Installation = "another"
		_, err = kv.Put(ctx, messages.KeyLayout, messages.Encode(other))
		return err
	})
	if left := keysOf(t, b); len(left) > 0 {
		t.Errorf("keys %v are left", left)
	}
}

// An interrupted replay returns no error.
func TestInterruptedReplay(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	for kind, want := range map[string]error{Replay: nil, Backup: context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		err := Do(ctx, b, kind, func(context.Context) error {
			cancel()
			return nil
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", kind, err, want)
		}
	}
}

// A restore that was suspended while another one took over and ended does not count.
func TestRestoreThatAnotherHasTakenOver(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	config := jetstream.KeyValueConfig{Bucket: messages.BucketRestore, TTL: messages.LeaseTTL}
	_, err := b.JS.CreateKeyValue(t.Context(), config)
	must(t, err)
	err = Do(t.Context(), b, Restore, func(ctx context.Context) error { return b.JS.DeleteKeyValue(ctx, messages.BucketRestore) })
	if !errors.Is(err, ErrLost) {
		t.Errorf("got %v, want %v", err, ErrLost)
	}
}

// A renewal whose answer was lost does not lose the entry.
func TestRenewalWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	kv, err := b.Bucket(t.Context(), messages.BucketLeases)
	must(t, err)
	must(t, Do(t.Context(), b, Backup, func(ctx context.Context) error {
		key := keysOf(t, b)[0]
		text, _, err := b.ReadKey(ctx, messages.BucketLeases, key)
		must(t, err)
		_, err = kv.Put(ctx, key, text)
		return err
	}))
}

// During an unfinished restore no work starts, and no frontier.
func TestNothingBeginsBesideARestore(t *testing.T) {
	t.Parallel()
	b := cluster(t)
	_, err := b.JS.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: messages.BucketRestore})
	must(t, err)
	for _, kind := range []string{Backup, Replay} {
		if err := Do(t.Context(), b, kind, nothing); !errors.Is(err, stages.ErrRestoring) {
			t.Errorf("%s: %v, want %v", kind, err, stages.ErrRestoring)
		}
	}
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); !errors.Is(err, stages.ErrRestoring) {
		t.Errorf("a frontier: %v, want %v", err, stages.ErrRestoring)
	}
}
