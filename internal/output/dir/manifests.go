package dir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"seine/internal/output"
)

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

var _ output.ManifestPlace = (*Sink)(nil)
