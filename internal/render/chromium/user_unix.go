//go:build unix

package chromium

import (
	"os"
	"os/exec"
	"syscall"
)

// user is who a browser runs as.
type user struct{ uid, gid int }

// nobody is the user without rights of most systems.
const nobody = 65534

// otherUser returns who a browser is to run as: nil is this process's user. Root runs it as nobody, since a page that
// breaks out of the sandbox would own the machine otherwise.
func otherUser() *user {
	if os.Geteuid() != 0 {
		return nil
	}
	return &user{nobody, nobody}
}

// runAs has a command run as a user, in a process group of its own, so that all that it starts can be ended.
func runAs(cmd *exec.Cmd, as *user) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(as.uid), Gid: uint32(as.gid)}
	}
}

// killGroup ends a command and all that it has started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
