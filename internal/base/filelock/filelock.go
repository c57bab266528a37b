// Package filelock is a lock that one process at a time holds: that of a file. The system releases it
// when the process ends, even by a kill.
package filelock

import (
	"errors"
	"os"
)

// ErrTaken is returned while another has the lock.
var ErrTaken = errors.New("another process has the lock")

// Take locks a file, which it makes if need be, until that is closed.
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

// With calls do while no other process or goroutine holds the lock of a file, which it makes if need be. It is for files
// that are read, changed and written again: without it, one of two changes at a time is lost.
func With(name string, do func() error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // which unlocks it
	if err := lock(f, true); err != nil {
		return &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return do()
}
