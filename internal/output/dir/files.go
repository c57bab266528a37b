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
func (s *Sink) Files(do func(path string) error) error {
	return filepath.WalkDir(s.out, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since it was listed
			return nil
		case err != nil:
			return err
		case at == s.out:
			return nil
		case strings.ContainsAny(d.Name()[:1], "._"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		return do(filepath.ToSlash(s.below(filepath.Dir(at), d.Name())))
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

// GetManifest implements output.ManifestStore.
func (s *Sink) GetManifest(path string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(s.out, filepath.FromSlash(path)))
}

var (
	_ output.Lister        = (*Sink)(nil)
	_ output.ManifestStore = (*Sink)(nil)
)
