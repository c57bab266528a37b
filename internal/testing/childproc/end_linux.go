package childproc

import "syscall"

func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
