package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"seine/bench/others"
)

func shell(t *testing.T, script string, okay ...int) others.Command {
	t.Helper()
	return others.Command{Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Okay: okay}
}

func TestExecute(t *testing.T) {
	m, err := execute(t.Context(), shell(t, "echo out; exit 8", 8), time.Minute)
	if err != nil || m.stdout != "out\n" || m.Wall <= 0 || m.RSS <= 0 {
		t.Errorf("%+v, %v", m, err)
	}
	_, err = execute(t.Context(), shell(t, "echo first >&2; echo last >&2; exit 3"), time.Minute)
	if err == nil || !strings.HasSuffix(err.Error(), "exit status 3: last") {
		t.Errorf("error %v", err)
	}
	if _, err = execute(t.Context(), others.Command{Argv: []string{"/nonexistent"}}, time.Minute); err == nil {
		t.Error("a program that does not exist is no error")
	}
}

func TestExecuteCountsChildren(t *testing.T) {
	m, err := execute(t.Context(), shell(t, "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; true"), time.Minute)
	if err != nil || m.CPU < time.Millisecond {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestExecuteEndsTheProgramAndItsChildren(t *testing.T) {
	m, err := execute(t.Context(), shell(t, "sleep 60 & echo $!; wait"), 300*time.Millisecond)
	if !errors.Is(err, context.DeadlineExceeded) || m.Wall > 5*time.Second {
		t.Errorf("%v after %v", err, m.Wall)
	}
}

func TestUsageOf(t *testing.T) {
	ru := &syscall.Rusage{Utime: syscall.NsecToTimeval(2e9), Stime: syscall.NsecToTimeval(5e8)}
	if got := usageOf(ru, time.Minute); got.CPU != 2500*time.Millisecond || got.Wall != time.Minute {
		t.Errorf("%+v", got)
	}
}

func TestCompare(t *testing.T) {
	missing, extra := compare([]string{"/a", "/b", "/d"}, []string{"/b", "/c", "/d"})
	if !slices.Equal(missing, []string{"/a"}) || !slices.Equal(extra, []string{"/c"}) {
		t.Errorf("missing %q, extra %q", missing, extra)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var out tail
	for range 3 {
		_, _ = out.Write([]byte(strings.Repeat("x", maxCapture/2) + "\nend\n"))
	}
	if len(out) != maxCapture || out.lastLine() != "end" {
		t.Errorf("%d bytes, last line %q", len(out), out.lastLine())
	}
}
