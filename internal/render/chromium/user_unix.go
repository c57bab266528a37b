//go:build unix

package chromium

import (
	"os"
	"os/exec"
	"syscall"
)

// user is the user that a browser runs as.
type user struct{ uid, gid int }

// nobody is the unprivileged user of most systems.
const nobody = 65534

// otherUser returns the user that a browser should run as; nil is this process's user. Root runs it
// as nobody, since a page that breaks out of the sandbox would otherwise own the machine.
func otherUser() *user {
	if os.Geteuid() != 0 {
		return nil
	}
	return &user{nobody, nobody}
}

// runAs makes a command run as a user, in a separate process group, so that all its processes can
// be killed.
func runAs(cmd *exec.Cmd, as *user) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(as.uid), Gid: uint32(as.gid)}
	}
}

// killGroup kills a command and all processes that it has started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
