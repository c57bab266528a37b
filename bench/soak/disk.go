package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// disk is a folder on a small file system of its own, if that can be had, so that it can be full.
type disk struct {
	dir     string
	mounted bool
}

// newDisk mounts a file system in memory, which needs root; without it the folder is one like any other.
func newDisk(dir string, size int64) (*disk, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	err := syscall.Mount("seine-soak", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
	if err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, syscall.ENOSYS) {
		return nil, fmt.Errorf("mount a small disk at %s: %w", dir, err)
	}
	return &disk{dir, err == nil}, nil
}

func (d *disk) filler() string { return filepath.Join(d.dir, "filler") }

// fill leaves no room.
func (d *disk) fill() error {
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("fill disk: %w", err)
	}
	defer func() { _ = f.Close() }()
	for b := make([]byte, 256<<10); ; {
		_, err := f.Write(b)
		switch {
		case errors.Is(err, syscall.ENOSPC) && len(b) > 1:
			b = b[:len(b)/2]
		case errors.Is(err, syscall.ENOSPC):
			return nil
		case err != nil:
			return fmt.Errorf("fill disk: %w", err)
		}
	}
}

// free makes room again.
func (d *disk) free() { _ = os.Remove(d.filler()) }

// leave unmounts the disk, and keeps its files if asked.
func (d *disk) leave(keep bool) error {
	if !d.mounted {
		return nil
	}
	d.free()
	copied := d.dir + ".kept"
	if keep {
		if out, err := exec.Command("cp", "-a", d.dir, copied).CombinedOutput(); err != nil { //nolint:gosec // fixed
			return fmt.Errorf("keep %s: %w: %s", d.dir, err, out)
		}
	}
	if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", d.dir, err)
	}
	if keep {
		_ = os.Remove(d.dir)
		return os.Rename(copied, d.dir)
	}
	return nil
}
