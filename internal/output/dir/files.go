package dir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"seine/internal/output"
)

// WriterName returns the name of the writer whose log it is.
func (s *Sink) WriterName() string { return filepath.Base(s.logs) }

// Files implements output.Lister.
func (s *Sink) Files(do func(path string, err error) error) error {
	return filepath.WalkDir(s.out, func(at string, d fs.DirEntry, err error) error {
		below := func() string { return filepath.ToSlash(s.below(filepath.Dir(at), filepath.Base(at))) }
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since it was listed
			return nil
		case d == nil: // the output itself
			return err
		case at != s.out && strings.ContainsAny(d.Name()[:1], "._"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil: // what of the folder was read comes next
			return do(below(), err)
		case d.IsDir():
			if at != s.out && hasLog(at) { // another output
				return fs.SkipDir
			}
			return nil
		}
		return do(below(), nil)
	})
}

// PutManifest implements output.ManifestStore.
func (s *Sink) PutManifest(path string, content io.Reader) error {
	to := filepath.Join(s.out, filepath.FromSlash(path))
	dir := filepath.Dir(to)
	if err := makeDir(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".*"+tempSuffix)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), to); err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return syncDir(dir)
}

// Writer implements output.ManifestPlace.
func (s *Sink) Writer() string { return filepath.Base(s.logs) }

// GetManifest implements output.ManifestStore.
func (s *Sink) GetManifest(path string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(s.out, filepath.FromSlash(path)))
}

var (
	_ output.Lister        = (*Sink)(nil)
	_ output.ManifestStore = (*Sink)(nil)
)
