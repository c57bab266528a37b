package frontier

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/frontier/state"
	"seine/internal/streams/jsclient"
)

// corrupt changes bytes in the tables of a closed store, or in its manifest.
func corrupt(t *testing.T, dir, pattern string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, dir, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(text) / 4 {
			text[i] ^= 0xff
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Names in the directory of a store: of the quarantined files, and of the note with the reason.
const (
	aside = "damaged"
	note  = "DAMAGED"
)

// openIn opens a store like a frontier with snapshots.
func (t *takeoverFixture) openIn(dir string) (*state.Store, error) {
	t.t.Helper()
	if err := state.QuarantineDamaged(dir, t.bus.Log); err != nil {
		return nil, err
	}
	return state.OpenStore(dir, 1<<20, state.SyncOS, nil, t.bus.Log)
}

// A store with damaged files ends its frontier with the remedy. The next one quarantines the files,
// reports it, and continues from the snapshots; but it does not do so repeatedly.
func TestDamagedFilesOfAStoreAreSetAside(t *testing.T) {
	t.Parallel()
	a, dir := newTakeoverFixture(t), t.TempDir()
	store, err := a.openIn(dir)
	a.must(err)
	first := a.own(store, 1, time.Hour)
	a.seedHosts(2)
	a.eventually("both are known", func() bool { st, ok := a.status(); return ok && st.Counters.Known() == 8 })
	first.handOver()
	a.copyState(store, store) // which makes a table of it, once the store is reopened
	a.must(store.Close())
	store, err = a.openIn(dir)
	a.must(err)
	a.must(store.Close())
	corrupt(t, dir, "*.sst")

	store, err = a.openIn(dir)
	a.must(err)
	err = a.own(store, 2, time.Hour).wait()
	if !errors.Is(err, state.ErrDamaged) || !strings.Contains(err.Error(), "move "+dir+" away") || jsclient.Unavailable(err) {
		t.Errorf("damaged tables end it with %v", err)
	}
	_ = store.Close()

	store, err = a.openIn(dir)
	a.must(err)
	last := a.own(store, 3, time.Hour)
	a.eventually("it knows both again", func() bool { st, ok := a.status(); return ok && st.Counters.Known() == 8 })
	a.must(last.die())
	a.must(store.Close())
	if n := strings.Count(a.log.String(), "starting without them"); n != 1 {
		t.Errorf("told %d times that the files were set aside", n)
	}
	if kept, err := filepath.Glob(filepath.Join(dir, aside, "*.sst")); err != nil || len(kept) == 0 {
		t.Errorf("the damaged files are gone: %v, %v", kept, err)
	}
	store, err = a.openIn(dir)
	a.must(err)
	a.must(store.Close())

	corrupt(t, dir, "MANIFEST-*")
	_, err = a.openIn(dir)
	if !errors.Is(err, state.ErrDamaged) {
		t.Errorf("a damaged manifest ends it with %v", err)
	}
	_, err = a.openIn(dir)
	if !errors.Is(err, state.ErrDamaged) || !strings.Contains(err.Error(), filepath.Join(dir, aside)) {
		t.Errorf("damaged again, it ends with %v", err)
	}
	a.must(os.RemoveAll(filepath.Join(dir, aside)))
	store, err = a.openIn(dir)
	a.must(err)
	a.must(store.Close())
}

// If a process is killed while it quarantines files, the next one continues.
func TestSettingAsideGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	a, dir := newTakeoverFixture(t), t.TempDir()
	for _, name := range []string{"IDENTITY", "000001.sst", note} {
		a.must(os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	a.must(os.Mkdir(filepath.Join(dir, aside), 0o700))
	a.must(os.Rename(filepath.Join(dir, "IDENTITY"), filepath.Join(dir, aside, "IDENTITY")))
	a.must(state.QuarantineDamaged(dir, a.bus.Log))
	for _, name := range []string{"IDENTITY", "000001.sst", note} {
		if _, err := os.Stat(filepath.Join(dir, aside, name)); err != nil {
			t.Error(err)
		}
	}
}
