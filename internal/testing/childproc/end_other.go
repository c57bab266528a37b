//go:build !linux

package childproc

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}
