//go:build unix

package connect

import (
	"fmt"
	"os"
	"syscall"
)

// private returns an error if other users can read or write a file. Another user who could write it
// could redirect commands to a different server.
func private(file string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); ok && me != 0 && int(owner.Uid) != me {
		return fmt.Errorf("%s belongs to another user, and is not trusted", file)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be read or changed by others, and is not trusted: remove it, and start the crawl again", file)
	}
	return nil
}
