package frontier

import (
	"os"
	"path/filepath"
	"testing"

	"seine/pkg/stages/frontier/state"
)

// A store that was not closed may have lost its last commits with the power, and so know fewer visits than the output: visits that begin
// after that have identities of a new era. One that was closed goes on in the era that there is.
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
