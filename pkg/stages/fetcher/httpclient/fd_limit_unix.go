//go:build unix

package httpclient

import (
	"math"
	"syscall"
)

// openFiles returns the process's limit of open files. The Go runtime has raised the soft limit to
// the hard one.
func openFiles() (int64, bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return int64(min(uint64(l.Cur), math.MaxInt64)), true
}
