package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var at = time.Date(2026, 11, 26, 0, 55, 30, 0, time.UTC)

// folder makes a folder with a command and a text, with modes and times of its own.
func folder(t *testing.T, name string, mode os.FileMode) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for file, m := range map[string]os.FileMode{"man/seine.1": mode, "seine": mode | 0o100, "README.md": mode} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text of "+file), m); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func archive(t *testing.T, dir, end string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a"+end)
	if err := (&archiveCmd{Time: at, File: file, Dir: dir}).Run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var wantNames = []string{"seine_1/", "seine_1/README.md", "seine_1/man/", "seine_1/man/seine.1", "seine_1/seine"}

func TestTarHasTheFolderInOrder(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(archive(t, folder(t, "seine_1", 0o600), ".tar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		want := map[string]int64{"seine_1/README.md": 0o644, "seine_1/man/seine.1": 0o644}[h.Name]
		if want == 0 {
			want = 0o755
		}
		if h.Mode != want || !h.ModTime.Equal(at) || h.Uid != 0 || h.Uname != "root" {
			t.Errorf("%s has the mode %o, is of %s, and belongs to %s", h.Name, h.Mode, h.ModTime, h.Uname)
		}
	}
	if !slices.Equal(names, wantNames) {
		t.Errorf("it has %q, want %q", names, wantNames)
	}
}

func TestZipHasTheFolderInOrder(t *testing.T) {
	text := archive(t, folder(t, "seine_1", 0o600), ".zip")
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		if !f.Modified.Equal(at) {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
	}
	if !slices.Equal(names, wantNames) {
		t.Errorf("it has %q, want %q", names, wantNames)
	}
	if mode := r.File[4].Mode(); mode != 0o755 {
		t.Errorf("the command has the mode %o", mode)
	}
}

// What a machine has beside the bytes of the files makes no difference.
func TestArchivesOfTheSameFilesAreEqual(t *testing.T) {
	for _, end := range []string{".tar.gz", ".zip"} {
		if !bytes.Equal(archive(t, folder(t, "seine_1", 0o600), end), archive(t, folder(t, "seine_1", 0o664), end)) {
			t.Errorf("two %s of the same files differ", end)
		}
	}
}

func TestArchiveRefusesWhatItCannotHave(t *testing.T) {
	dir := folder(t, "seine_1", 0o600)
	file := filepath.Join(t.TempDir(), "a.tar.gz")
	if err := (&archiveCmd{Time: at, File: file + ".xz", Dir: dir}).Run(); err == nil {
		t.Error("an archive of another form is made")
	}
	if err := os.Symlink("seine", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := (&archiveCmd{Time: at, File: file, Dir: dir}).Run(); err == nil {
		t.Error("a link is put in")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("half an archive stays")
	}
}
