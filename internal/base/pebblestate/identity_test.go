package pebblestate

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIdentityStaysThatOfTheDirectory(t *testing.T) {
	dir := t.TempDir()
	first, err := Identity(dir)
	if err != nil || first == "" {
		t.Fatalf("%q, %v", first, err)
	}
	if again, err := Identity(dir); err != nil || again != first {
		t.Errorf("then %q, %v, not %q", again, err, first)
	}
	if other, err := Identity(t.TempDir()); err != nil || other == first {
		t.Errorf("another directory has %q, %v", other, err)
	}
	// A crash may have left the file empty.
	if err := os.WriteFile(filepath.Join(dir, "IDENTITY"), []byte("\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if id, err := Identity(dir); err != nil || id == "" || id == first {
		t.Errorf("an empty file gives %q, %v", id, err)
	}
}
