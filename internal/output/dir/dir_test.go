package dir

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/output"
)

// Special characters of patterns in the directory's name have no effect. Leftovers of a killed
// process's probe are removed.
func TestDirectoryWithSignsOfPatterns(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"b[", "b[a]", `b\`, "b*?", "b{a,b}"} {
		out := filepath.Join(t.TempDir(), name)
		logs := filepath.Join(out, output.CommitsDir, "default")
		if err := os.MkdirAll(logs, 0o755); err != nil {
			t.Fatal(err)
		}
		left := filepath.Join(logs, ".Probe-1"+tempSuffix)
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(out, "default", slog.New(slog.DiscardHandler), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the file of an earlier probe: %v", name, err)
		}
		p, _, err := s.OpenPartition(0, time.Unix(0, 0))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An unreadable folder is reported, and the others are listed. Its path is too long for the system,
// which also fails for root.
func TestFilesTellsOfFoldersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	root, err := os.OpenRoot(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	unreadable := "b"
	for len(filepath.Join(out, unreadable)) < 4096 { // PATH_MAX
		unreadable = filepath.Join(unreadable, strings.Repeat("x", 200))
	}
	if err := errors.Join(root.Mkdir("a", 0o755), root.Mkdir("c", 0o755), root.MkdirAll(unreadable, 0o755),
		root.WriteFile("a/f", nil, 0o600), root.WriteFile("c/f", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var files, bad []string
	err = (&Sink{out: out}).Files(func(path string, err error) error {
		if err != nil {
			bad = append(bad, path)
		} else {
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) != 2 || len(bad) != 1 || bad[0] != unreadable {
		t.Errorf("files %v, folders that cannot be read %v, %v", files, bad, err)
	}
}

// A process that is killed while it stores the ID leaves a file, which the next process that needs
// the ID removes.
func TestNameOfAPlaceLeavesNothing(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	s, err := Open(out, "default", slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := s.PlaceID("first"); id != "first" || err != nil {
		t.Fatal(id, err)
	}
	left := filepath.Join(out, output.CommitsDir, "default", ".place-second"+tempSuffix)
	if err := os.WriteFile(left, []byte("second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if id, err := s.PlaceID("third"); id != "first" || err != nil {
		t.Error(id, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of a killed process: %v", err)
	}
}
