package frontier

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"seine/internal/frontier/state"
	"seine/internal/streams/partition"
	"seine/internal/testing/await"
)

// A copy of the --state of a running frontier, such as a clone of its volume, cannot start a second
// frontier with that identity.
func TestCopiedState_SecondFrontierRefuses(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	dir, clone := t.TempDir(), filepath.Join(t.TempDir(), "clone")
	open := func(dir string) *state.Store {
		s, err := state.OpenStore(dir, 1<<20, state.SyncOS, nil, a.bus.Log)
		a.must(err)
		return s
	}
	a.must(open(dir).Close())
	a.must(os.CopyFS(clone, os.DirFS(dir)))
	store, copied := open(dir), open(clone)
	t.Cleanup(func() { a.must(errors.Join(store.Close(), copied.Close())) })
	first, second := a.frontier(store, 0), a.frontier(copied, 0)
	await.Start(t, first.Run)
	a.eventually("the first has both partitions", func() bool { return len(first.leases.Owned()) == 2 })
	if err := await.Start(t, second.Run).Wait(); !errors.Is(err, partition.ErrTwin) {
		t.Errorf("the second ends with %v, want ErrTwin", err)
	}
	if n := len(first.leases.Owned()); n != 2 {
		t.Errorf("the first has %d partitions", n)
	}
}

// A store that was not closed may have lost its last commits in a power failure, and know fewer
// visits than the output: visits that begin after that have identities of a new era. A store that
// was closed continues in the current era.
func TestStoreThatWasNotClosed_EraBegins(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"closed": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTakeoverFixture(t)
			dir := t.TempDir()
			open := func(dir string) *state.Store {
				s, err := state.OpenStore(dir, 1<<20, state.SyncOS, nil, a.bus.Log)
				a.must(err)
				return s
			}
			before := open(dir)
			if killed { // the directory as it is when the process ends here
				left := filepath.Join(t.TempDir(), "left")
				a.must(os.CopyFS(left, os.DirFS(dir)))
				dir = left
			}
			a.must(before.Close())
			var eras []uint64
			for range 2 { // the second start finds a store that was closed
				s := open(dir)
				f, err := New(a.config(0), a.bus, a.specs, s)
				a.must(err)
				a.must(f.startEra(t.Context()))
				eras = append(eras, f.era())
				a.must(s.Close())
			}
			if (eras[0] > 0) != killed || eras[1] != eras[0] {
				t.Errorf("the eras are %d", eras)
			}
		})
	}
}
