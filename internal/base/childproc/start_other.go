//go:build !linux

package childproc

import "os/exec"

func start(cmd *exec.Cmd, started chan<- error) { started <- cmd.Start() }
