package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestOneAtATimeHasTheLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "LOCK")
	first, err := Take(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take(name); !errors.Is(err, ErrTaken) {
		t.Errorf("a second one has it, too: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Take(name)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// Changes of a file under its lock are sequential: none is lost, and an error is passed on.
func TestChangesUnderTheLockFollowEachOther(t *testing.T) {
	dir := t.TempDir()
	lock, file := filepath.Join(dir, "n.lock"), filepath.Join(dir, "n")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			err := With(lock, func() error {
				text, _ := os.ReadFile(file)
				return os.WriteFile(file, append(text, 'x'), 0o600)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if text, err := os.ReadFile(file); len(text) != 20 || err != nil {
		t.Errorf("%d of 20 changes are in the file, %v", len(text), err)
	}
	failed := errors.New("failed")
	if err := With(lock, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if err := With(filepath.Join(dir, "none", "lock"), func() error { return nil }); err == nil {
		t.Error("a lock in a folder that does not exist")
	}
}
