package dir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"seine/internal/output"
)

// PlaceID implements output.Place.
func (s *Sink) PlaceID(give string) (string, error) {
	const prefix = "." + output.PlaceFile + "-"
	file := filepath.Join(s.logs, output.PlaceFile)
	id, err := readPlace(file)
	if err == nil {
		_ = s.removeTemps(prefix) // left by killed processes; a reader may lack permission for it
		return id, nil
	}
	if !errors.Is(err, fs.ErrNotExist) || give == "" {
		return id, noPlace(err)
	}
	temp := filepath.Join(s.logs, prefix+give+tempSuffix)
	if err := writeSynced(temp, []byte(give+"\n")); err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(temp) }()
	// A link never replaces a file. Without links, two processes that start at the same moment may
	// both succeed; then the first to commit locks out the other. The process that stored the ID
	// first may have removed temp.
	if err := os.Link(temp, file); err != nil && !errors.Is(err, fs.ErrExist) {
		err := rename(temp, file)
		if err != nil && !errors.Is(err, output.ErrExists) && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if err := syncDir(s.logs); err != nil {
		return "", err
	}
	return readPlace(file)
}

func readPlace(file string) (string, error) {
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
}

// noPlace returns err, or nil if err says that there is no ID.
func noPlace(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

var _ output.Place = (*Sink)(nil)
