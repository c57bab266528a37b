//go:build unix

package dir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writable returns an error if this user cannot create files in a folder.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// syncDir makes the directory entries of dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
