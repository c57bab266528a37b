//go:build !unix

package chromium

import "os/exec"

type user struct{ uid, gid int }

func otherUser() *user { return nil }

func runAs(*exec.Cmd, *user) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
