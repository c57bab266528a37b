// Package filelock provides locks between processes, based on files. The operating system releases
// a lock when its process ends, even by a kill.
package filelock

import (
	"errors"
	"os"
)

// ErrTaken is returned if another process holds the lock.
var ErrTaken = errors.New("another process has the lock")

// Take locks a file until it is closed. It creates the file if needed.
func Take(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lock(f, false); err != nil {
		_ = f.Close()
		return nil, ErrTaken
	}
	return f, nil
}

// With calls do while it holds the lock of a file, which it creates if needed. It excludes other
// processes and goroutines. Use it to modify files: without it, one of two concurrent changes would
// be lost.
func With(name string, do func() error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // unlocks it
	if err := lock(f, true); err != nil {
		return &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return do()
}
