package doctor

import (
	"fmt"
	"syscall"
)

// limits looks at what this user's processes may do on this machine.
func limits() Finding {
	f := Finding{Level: OK, Check: "limits"}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		f.Level, f.What = Warn, "cannot be read: "+err.Error()
		return f
	}
	f.What = fmt.Sprintf("a process of this user may have %d files and connections open", files.Cur)
	if files.Cur < minFiles {
		f.Level, f.Do = Warn, "a fetcher with many hosts and a frontier want more: ulimit -n 65536, LimitNOFILE= of systemd"
	}
	return f
}
