package bootclock

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain is also the other process of the tests: it prints the reading of its clock.
func TestMain(m *testing.M) {
	if os.Getenv("SEINE_TEST_UPTIME") != "" {
		fmt.Print(strconv.FormatInt(int64(Now()), 10) + "\n" + Clock())
		return
	}
	os.Exit(m.Run())
}

func TestProcessesOfOneMachineReadOneClock(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("each process has a clock of its own")
	}
	before := Now()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SEINE_TEST_UPTIME=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	after := Now()
	reading, clock, _ := strings.Cut(string(out), "\n")
	n, err := strconv.ParseInt(reading, 10, 64)
	if at := time.Duration(n); err != nil || at < before || at > after {
		t.Errorf("another process read %q between %v and %v: %v", reading, before, after, err)
	}
	if clock == "" || clock != Clock() {
		t.Errorf("the other's clock is %q, this one's %q", clock, Clock())
	}
}
