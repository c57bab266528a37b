package bucket

import (
	"path"
	"strings"

	"seine/internal/output"
)

// WriterName implements output.ManifestPlace.
func (s *Sink) WriterName() string { return path.Base(s.logs) }

// Files implements output.Lister.
func (s *Sink) Files(do func(path string, err error) error) error {
	return s.client.list(s.prefix, func(o object) error {
		below := strings.TrimPrefix(o.key, s.prefix)
		for part := range strings.SplitSeq(below, "/") {
			if part == "" || part[0] == '.' || part[0] == '_' {
				return nil
			}
		}
		return do(below, nil)
	})
}

var _ output.Lister = (*Sink)(nil)
