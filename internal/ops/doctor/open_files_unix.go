//go:build unix

package doctor

import "syscall"

// openFiles returns the limit of open files per process, if there is one.
func openFiles() (files uint64, limited bool, err error) {
	var l syscall.Rlimit
	err = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return l.Cur, true, err
}
