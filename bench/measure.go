package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"seine/bench/others"
)

const (
	killAfter  = 10 * time.Second // from asking a program to end to ending it
	maxCapture = 64 << 10         // of what a program prints, the last bytes are kept

	memoryLimit = 4 << 30 // a crawler that needs more is stopped before the machine suffers
	guardEvery  = 200 * time.Millisecond
)

// errMemory means that a crawler went over memoryLimit.
var errMemory = errors.New("more than 4 GiB of memory")

// usage is what the kernel counted for a process and those of its children it has waited for.
type usage struct {
	Wall time.Duration
	CPU  time.Duration // user and system
	// RSS is the largest resident set, in bytes, of any one of the processes. Linux hands the mark of a program on to
	// the programs it starts, so none can read lower than what this one reached: see ownRSS.
	RSS int64
}

// measured is a finished program.
type measured struct {
	usage
	stdout string
}

// run is one measured crawl.
type run struct {
	usage
	Pages     int // distinct HTML pages, as the site saw them
	Requests  int
	ServerCPU time.Duration
	Missing   []string // pages of the site that were not fetched
	Extra     []string // pages fetched that are not known
	Claimed   *int     // the crawler's own count, if it gives one
	Failure   error
}

// rate is in pages per second.
func (r run) rate() float64 { return float64(r.Pages) / max(r.Wall.Seconds(), 1e-9) }

// marks name what is wrong with a run; none means it counts in full.
func (r run) marks() []string {
	var marks []string
	if r.Failure != nil {
		marks = append(marks, "failed: "+r.Failure.Error())
	}
	if n := len(r.Missing); n > 0 {
		marks = append(marks, fmt.Sprintf("misses %d pages, as %s", n, r.Missing[0]))
	}
	if n := len(r.Extra); n > 0 {
		marks = append(marks, fmt.Sprintf("%d pages too many, as %s", n, r.Extra[0]))
	}
	if r.Claimed != nil && *r.Claimed != r.Pages {
		marks = append(marks, fmt.Sprintf("says it has %d pages", *r.Claimed))
	}
	return marks
}

// String is for the progress of the bench.
func (r run) String() string {
	s := fmt.Sprintf("%5d pages %6d requests %7.2f s %7.0f pages/s  CPU %6.2f s  RSS %4.0f MB",
		r.Pages, r.Requests, r.Wall.Seconds(), r.rate(), r.CPU.Seconds(), megabytes(r.RSS))
	if marks := r.marks(); len(marks) > 0 {
		s += "  ! " + strings.Join(marks, "; ")
	}
	return s
}

// execute runs a program to its end. When ctx ends, or the time is over, the program and its children are asked to
// end, then made to.
func execute(ctx context.Context, c others.Command, timeout time.Duration) (measured, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var stdout, stderr tail
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...) //nolint:gosec // a crawler
	cmd.Dir, cmd.Env = c.Dir, environment(c)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that only this program answers to the terminal
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter

	start := time.Now()
	if err := cmd.Start(); err != nil {
		return measured{}, fmt.Errorf("start: %w", err)
	}
	go guard(ctx, cmd.Process.Pid, stop)
	err := cmd.Wait()
	wall := time.Since(start)
	m := measured{usage: usage{Wall: wall}, stdout: string(stdout)}
	if ru, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.usage = usageOf(ru, wall)
	}
	switch {
	case ctx.Err() != nil:
		return m, fmt.Errorf("stopped after %v: %w", wall.Round(time.Millisecond), context.Cause(ctx))
	case err == nil, slices.Contains(c.Okay, cmd.ProcessState.ExitCode()):
		return m, nil
	}
	return m, fmt.Errorf("run: %w: %s", err, stderr.lastLine())
}

// environment leaves out all that could make one machine's figures differ from another's, such as proxies.
func environment(c others.Command) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.Dir, "TMPDIR=" + c.Dir, "LC_ALL=C.UTF-8",
		"PYTHONDONTWRITEBYTECODE=1", // no files beside the spider
	}
	if c.Trust != "" {
		env = append(env, "SSL_CERT_FILE="+c.Trust)
	}
	return env
}

func usageOf(ru *syscall.Rusage, wall time.Duration) usage {
	return usage{
		Wall: wall,
		CPU:  time.Duration(ru.Utime.Nano() + ru.Stime.Nano()),
		RSS:  maxRSS(ru),
	}
}

// maxRSS is in bytes; only Darwin counts it so.
func maxRSS(ru *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return ru.Maxrss
	}
	return ru.Maxrss << 10
}

// ownRSS is the largest resident set of this program, the least that Linux can report of another it starts.
func ownRSS() int64 { return statusRSS("self", "VmHWM") }

// statusRSS reads a size, in bytes, of a process; 0 where /proc or the process does not exist.
func statusRSS(pid, key string) int64 {
	data, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(field(string(data), key, ":", "0"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// guard looks after the memory of a process until ctx ends, and stops the run when there is too much of it.
func guard(ctx context.Context, pid int, stop context.CancelCauseFunc) {
	ticker := time.NewTicker(guardEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if statusRSS(strconv.Itoa(pid), "VmRSS") > memoryLimit {
				stop(errMemory)
			}
		}
	}
}

// compare returns what is only in want, and what is only in got; both are sorted.
func compare(want, got []string) (missing, extra []string) {
	for _, uri := range want {
		if _, ok := slices.BinarySearch(got, uri); !ok {
			missing = append(missing, uri)
		}
	}
	for _, uri := range got {
		if _, ok := slices.BinarySearch(want, uri); !ok {
			extra = append(extra, uri)
		}
	}
	return missing, extra
}

// tail keeps the last bytes written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if over := len(*t) - maxCapture; over > 0 {
		*t = slices.Delete(*t, 0, over)
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	lines := strings.Split(strings.TrimSpace(string(*t)), "\n")
	return lines[len(lines)-1]
}
