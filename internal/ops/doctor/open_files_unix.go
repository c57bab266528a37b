//go:build unix

package doctor

import "syscall"

// openFiles returns how many files a process may have open, if that is limited.
func openFiles() (files uint64, limited bool, err error) {
	var l syscall.Rlimit
	err = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return l.Cur, true, err
}
