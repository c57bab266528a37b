// Package childproc starts processes that end with their parent, even if the parent is killed and
// cannot clean up: a browser, servers of tests and benchmarks. Only Linux supports that; on other
// systems the processes stay.
package childproc

import "os/exec"

// Start starts a command like its method Start, for the lifetime of this process.
func Start(cmd *exec.Cmd) error {
	err := make(chan error, 1)
	go start(cmd, err)
	return <-err
}
