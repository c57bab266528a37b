package repartition

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// markFile says that a folder is one of this package, and may be removed.
const markFile = "SEINE-REPARTITION"

// ErrNotEmpty is returned for a folder that has something else.
var ErrNotEmpty = errors.New("contains other files: name an empty or new directory")

// dirs are the stores of the old and of the new partitions.
func (c *Change) dirs() (old, moved string) {
	return filepath.Join(c.Dir, "old"), filepath.Join(c.Dir, "new")
}

// makeDir makes the folder, or empties it of what a process before has left.
func (c *Change) makeDir() error {
	if err := c.checkDir(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, markFile), nil, 0o600); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	return c.removeStores()
}

// checkDir makes sure that nothing is in the folder but what this package has made.
func (c *Change) checkDir() error {
	entries, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err == nil {
		if _, err = os.Stat(filepath.Join(c.Dir, markFile)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--state %s: %w", c.Dir, ErrNotEmpty)
		}
	}
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	return nil
}

func (c *Change) removeStores() error {
	old, moved := c.dirs()
	if err := errors.Join(os.RemoveAll(old), os.RemoveAll(moved)); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	return nil
}

// removeDir removes the folder, if it is one of this package.
func (c *Change) removeDir() error {
	if _, err := os.Stat(filepath.Join(c.Dir, markFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := c.removeStores(); err != nil {
		return err
	}
	if err := errors.Join(os.Remove(filepath.Join(c.Dir, markFile)), os.Remove(c.Dir)); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	return nil
}
