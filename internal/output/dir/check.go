package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"seine/internal/output"
)

// Check reports why the named writer could not write to out, as far as that can be seen without
// creating anything there.
func Check(out, name string) error {
	abs, err := filepath.Abs(out)
	if err != nil {
		return fmt.Errorf("--out %s: %w", out, err)
	}
	at, info, err := nearest(abs)
	switch {
	case err != nil:
		return fmt.Errorf("--out %s: %w", out, err)
	case !info.IsDir():
		return fmt.Errorf("--out %s: %s is a file, not a directory", out, at)
	}
	if err := writable(at); err != nil {
		return fmt.Errorf("--out %s: cannot write in %s: %w (name another directory, or let this user write)", out, at, err)
	}
	if at != abs {
		return nil
	}
	s := &Sink{out: abs, logs: filepath.Join(abs, output.CommitsDir, name), log: slog.New(slog.DiscardHandler)}
	err = s.refuseOthers(name)
	if _, statErr := os.Stat(s.logs); err == nil && errors.Is(statErr, fs.ErrNotExist) {
		err = s.refuseStrays()
	}
	if err != nil {
		return fmt.Errorf("--out %s: %w", out, err)
	}
	return nil
}

// nearest returns the nearest existing path: path itself or one of its parents.
func nearest(path string) (string, os.FileInfo, error) {
	for {
		info, err := os.Stat(path)
		parent := filepath.Dir(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || parent == path {
			return path, info, err
		}
		path = parent
	}
}
