// Package supervise runs processes that are started again whenever they end, until they are no longer wanted, and can be
// killed, frozen and told to end meanwhile.
package supervise

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"seine/internal/base/childproc"
)

// Teller is told what becomes of processes.
type Teller interface {
	// Violation is told of what must not be.
	Violation(format string, args ...any)
	// Exit is told of a process that ended by itself: how, and its last words.
	Exit(name, state, words string)
}

// Process is a command that is started again whenever it ends, as long as it is wanted: what an init system does.
type Process struct {
	Name string // unique
	Role string // a stage, broker, s3
	Path string
	Args []string
	Env  []string
	Log  string // file
	Tell Teller

	// Prepare changes each command before it starts; none if it is nil.
	Prepare func(*exec.Cmd)

	mu     sync.Mutex
	wanted bool
	told   bool // to end, in this life of it
	cmd    *exec.Cmd
	gone   chan struct{} // closed when the command has ended; nil before the first start
}

// restartWait is how long the supervisor waits before it starts something again that ended by itself.
const restartWait = 500 * time.Millisecond

// Supervise starts the process while it is wanted, until stop is closed.
func (p *Process) Supervise(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(50 * time.Millisecond):
		}
		if !p.IsWanted() {
			continue
		}
		gone, begin, err := p.start()
		if err != nil {
			p.Tell.Violation("cannot start %s: %v", p.Name, err)
			return
		}
		select {
		case <-gone:
		case <-stop:
			return
		}
		p.ended(begin)
	}
}

// IsWanted reports whether the process is meant to run.
func (p *Process) IsWanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

// Want has the process run.
func (p *Process) Want() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
}

// Dismiss has it not started again once it has ended.
func (p *Process) Dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted, p.told = false, true
}

// start starts the command, and returns where in the log its words begin.
func (p *Process) start() (gone chan struct{}, begin int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }()
	if info, err := log.Stat(); err == nil {
		begin = info.Size()
	}
	cmd := exec.Command(p.Path, p.Args...) //nolint:gosec // built here; killed by kill
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), p.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for who supervises
	if p.Prepare != nil {
		p.Prepare(cmd)
	}
	if err := childproc.Start(cmd); err != nil {
		return nil, 0, err
	}
	gone = make(chan struct{})
	p.cmd, p.gone, p.told = cmd, gone, false
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	return gone, begin, nil
}

// ended takes note of a process that nobody had told to end, and of one that broke down.
func (p *Process) ended(begin int64) {
	text, _ := os.ReadFile(p.Log)
	text = text[min(begin, int64(len(text))):]
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			p.Tell.Violation("%s broke down: %s", p.Name, strings.TrimSpace(line))
		}
	}
	p.mu.Lock()
	told := p.told
	p.mu.Unlock()
	if told {
		return
	}
	p.Tell.Exit(p.Name, p.cmd.ProcessState.String(), lastLine(text))
	time.Sleep(restartWait)
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}

// ID is the process ID of the command, 0 before the first start. The command may have ended.
func (p *Process) ID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Signal sends a signal to the command, if it was started.
func (p *Process) Signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// Kill ends the process as a crash does; it stays away until it is wanted again.
func (p *Process) Kill() {
	p.Dismiss()
	p.Signal(syscall.SIGKILL)
	p.waitGone(10 * time.Second)
}

// DrainTime is how long a stage may take to end when it is told to: longer than its --drain.
const DrainTime = 45 * time.Second

// Stuck is the exit code of a process that does not end when it is told to.
const Stuck = -2

// Drain ends the process as a deployment does, and reports its exit code; Stuck if it had to be killed,
// and -1 if another fault has killed it meanwhile.
func (p *Process) Drain() int {
	p.Dismiss()
	p.Signal(syscall.SIGTERM)
	if !p.waitGone(DrainTime) {
		p.Signal(syscall.SIGQUIT) // Go writes to the log where it hangs
		p.waitGone(5 * time.Second)
		p.Kill()
		return Stuck
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.ProcessState.ExitCode()
}

// waitGone waits for the end of a process that was told to end.
func (p *Process) waitGone(within time.Duration) bool {
	p.mu.Lock()
	gone := p.gone
	p.mu.Unlock()
	if gone == nil {
		return true
	}
	select {
	case <-gone:
		return true
	case <-time.After(within):
		return false
	}
}
