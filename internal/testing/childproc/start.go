// Package childproc starts processes that end with the one that has started them, also where that is killed and cleans nothing
// up: servers of tests and benchmarks. Linux alone does that; elsewhere they stay.
package childproc

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

type start struct {
	cmd *exec.Cmd
	err chan<- error
}

// starts takes processes to a thread that never ends before this process does: Linux takes the end of the thread that has
// started a process for that of its parent.
var starts = sync.OnceValue(func() chan<- start {
	all := make(chan start)
	go func() {
		runtime.LockOSThread()
		for s := range all {
			s.err <- s.cmd.Start()
		}
	}()
	return all
})

// Start starts a command as its method does, for as long as this process is there.
func Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	endWithParent(cmd.SysProcAttr)
	err := make(chan error, 1)
	starts() <- start{cmd, err}
	return <-err
}
