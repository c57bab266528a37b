package procfs

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"seine/internal/base/childproc"
)

func TestFindOfProcesses(t *testing.T) {
	const argument = "--of-test=soak find"
	c := exec.Command("sh", "-c", "read line", argument)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := childproc.Start(c); err != nil {
		t.Fatal(err)
	}
	pid := c.Process.Pid
	if got := ParentOf(pid); got != os.Getpid() {
		t.Errorf("its parent is %d", got)
	}
	if got := InGroup(pid); !slices.Equal(got, []int{pid}) || GroupOf(pid) != pid {
		t.Errorf("its group has %v", got)
	}
	if Resident(pid) <= 0 {
		t.Error("it has no memory")
	}
	_ = in.Close()
	_ = c.Wait()
	if len(InGroup(pid)) > 0 || GroupOf(pid) != 0 || len(CommandLine(pid)) > 0 || len(InGroup(0)) > 0 {
		t.Error("it has ended, and is found")
	}
}
