// Package atomicfile replaces files atomically.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Aside is the suffix that ReadAllJSON adds to the name of a damaged file, which is kept for
// inspection.
const Aside = ".unreadable"

// Write replaces a file, which only its owner can read. After a crash the file has the old text or
// the new one.
func Write(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // with 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
