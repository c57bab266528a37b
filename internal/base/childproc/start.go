// Package childproc starts processes that end with the one that has started them, also where that is killed and cleans nothing
// up: a browser, servers of tests and benchmarks. Linux alone does that; elsewhere they stay.
package childproc

import "os/exec"

// Start starts a command as its method does, for as long as this process is there.
func Start(cmd *exec.Cmd) error {
	err := make(chan error, 1)
	go start(cmd, err)
	return <-err
}
