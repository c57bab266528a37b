package setup

import (
	"bytes"
	"fmt"
	"os"

	"seine/internal/base/atomicfile"
)

// folder creates a directory that only its owner can enter.
func (r *Result) folder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("close folder to others: %w", err)
	}
	return nil
}

// write atomically replaces a file, unless it is up to date. Only its owner can read it.
func (r *Result) write(name string, text []byte) error {
	have, err := os.ReadFile(name)
	if err == nil && bytes.Equal(have, text) {
		return os.Chmod(name, 0o600)
	}
	if err := atomicfile.Write(name, text); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	r.Made = append(r.Made, name)
	return nil
}
