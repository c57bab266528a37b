//go:build unix

package dir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writable reports why this user could make no file in a folder.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
