package bucket

import (
	"errors"
	"io/fs"
	"strings"

	"seine/internal/output"
)

// PlaceID implements output.Place.
func (s *Sink) PlaceID(give string) (string, error) {
	key := s.logs + output.PlaceFile
	text, err := s.client.get(key)
	if errors.Is(err, fs.ErrNotExist) && give != "" {
		if _, err := s.client.putNew(key, []byte(give+"\n")); err != nil && !errors.Is(err, output.ErrExists) {
			return "", err
		}
		text, err = s.client.get(key)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

var _ output.Place = (*Sink)(nil)
