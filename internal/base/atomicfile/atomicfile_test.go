package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteReplacesTheFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	for _, text := range []string{"first, and longer", "second"} {
		if err := Write(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	wantOnly(t, dir, "a")
}

func TestWriteLeavesNothingBesideWhatItCannotReplace(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "a"), []byte("x")); err == nil {
		t.Error("a folder is replaced")
	}
	wantOnly(t, dir, "a")
}

func wantOnly(t *testing.T, dir, name string) {
	t.Helper()
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 || all[0].Name() != name {
		t.Errorf("the folder has %v, %v", all, err)
	}
}
