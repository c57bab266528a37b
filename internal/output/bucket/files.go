package bucket

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"seine/internal/output"
)

// WriterName returns the name of the writer whose log it is.
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

// PutManifest implements output.ManifestStore.
func (s *Sink) PutManifest(path string, content io.Reader) error {
	f, err := s.nameless()
	if err != nil {
		return err
	}
	size, err := io.Copy(f, content)
	if err == nil {
		err = s.client.put(s.prefix+path, io.NewSectionReader(f, 0, size), size)
	}
	return errors.Join(err, f.Close())
}

// Writer implements output.ManifestPlace.
func (s *Sink) Writer() string { return path.Base(s.logs) }

// GetManifest implements output.ManifestStore.
func (s *Sink) GetManifest(path string) (io.ReadCloser, error) {
	return s.client.open(context.Background(), s.prefix+path)
}

var (
	_ output.Lister        = (*Sink)(nil)
	_ output.ManifestStore = (*Sink)(nil)
)
