// Package atomicfile replaces files whole or not at all.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Aside is what SetAside adds to the name of a file.
const Aside = ".unreadable"

// SetAside renames a file whose text is damaged, so that it is out of the way and can still be looked at.
func SetAside(name string) error { return os.Rename(name, name+Aside) }

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
