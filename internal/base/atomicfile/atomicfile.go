// Package atomicfile replaces files whole or not at all.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Aside is what ReadAllJSON adds to the name of a damaged file, so that a person can inspect it.
const Aside = ".unreadable"

// Write replaces a file, which only its owner can read. After a crash it has the old
// text or the new.
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
