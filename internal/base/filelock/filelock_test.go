package filelock

import (
	"errors"
	"path/filepath"
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
