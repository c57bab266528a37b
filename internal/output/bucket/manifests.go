package bucket

import (
	"context"
	"errors"
	"io"

	"seine/internal/output"
)

// PutManifest implements output.ManifestStore.
func (s *Sink) PutManifest(path string, content io.Reader) error {
	f, err := s.nameless()
	if err != nil {
		return err
	}
	size, err := io.Copy(f, content)
	if err == nil {
		err = s.client.putOver(s.prefix+path, io.NewSectionReader(f, 0, size), size)
	}
	return errors.Join(err, f.Close())
}

// GetManifest implements output.ManifestStore.
func (s *Sink) GetManifest(path string) (io.ReadCloser, error) {
	return s.client.open(context.Background(), s.prefix+path)
}

var _ output.ManifestPlace = (*Sink)(nil)
