package dir

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"seine/internal/output"
)

// WriterName implements output.ManifestPlace.
func (s *Sink) WriterName() string { return filepath.Base(s.logs) }

// Files implements output.Lister.
func (s *Sink) Files(do func(path string, err error) error) error {
	return filepath.WalkDir(s.out, func(at string, d fs.DirEntry, err error) error {
		below := func() string { return filepath.ToSlash(s.below(filepath.Dir(at), filepath.Base(at))) }
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed after it was listed
			return nil
		case d == nil: // the output directory
			return err
		case at != s.out && strings.ContainsAny(d.Name()[:1], "._"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil: // the entries read so far follow
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

var _ output.Lister = (*Sink)(nil)
