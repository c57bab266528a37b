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
		_ = s.removeTemps(prefix) // of processes that were killed below; a reader need not be able to
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
	// A link never replaces a file. Where there are none, two who start at the same
	// moment may both succeed, and the first to commit keeps the other out. The one that
	// has given the name first may have removed temp.
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

// noPlace is err, unless it says that there is no name.
func noPlace(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

var _ output.Place = (*Sink)(nil)
