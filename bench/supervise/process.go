package main

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

// process is a command that is started again whenever it ends, as long as it is wanted: what an init system does.
type process struct {
	name string // unique
	role string // a stage, broker, s3
	path string
	args []string
	env  []string
	log  string // file
	tell *tally

	mu     sync.Mutex
	wanted bool
	told   bool // to end, in this life of it
	cmd    *exec.Cmd
	gone   chan struct{} // closed when the command has ended; nil before the first start
}

// restartWait is how long the supervisor waits before it starts something again that ended by itself.
const restartWait = 500 * time.Millisecond

// supervise starts the process while it is wanted, until stop is closed.
func (p *process) supervise(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(50 * time.Millisecond):
		}
		if !p.isWanted() {
			continue
		}
		gone, begin, err := p.start()
		if err != nil {
			p.tell.violation("cannot start %s: %v", p.name, err)
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

func (p *process) isWanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

// want has the process run.
func (p *process) want() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
}

// dismiss has it not started again once it has ended.
func (p *process) dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted, p.told = false, true
}

// start starts the command, and returns where in the log its words begin.
func (p *process) start() (gone chan struct{}, begin int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }()
	if info, err := log.Stat(); err == nil {
		begin = info.Size()
	}
	cmd := exec.Command(p.path, p.args...) //nolint:gosec,noctx // built here; killed by kill
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the soak
	if err := childproc.Start(cmd); err != nil {
		return nil, 0, err //nolint:wrapcheck // says all
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
func (p *process) ended(begin int64) {
	text, _ := os.ReadFile(p.log)
	text = text[min(begin, int64(len(text))):]
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			p.tell.violation("%s broke down: %s", p.name, strings.TrimSpace(line))
		}
	}
	p.mu.Lock()
	told := p.told
	p.mu.Unlock()
	if told {
		return
	}
	p.tell.exit(p.name, p.cmd.ProcessState.String(), lastLine(text))
	time.Sleep(restartWait)
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}

// id is the process ID of the command, 0 before the first start. The command may have ended.
func (p *process) id() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

func (p *process) signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// kill ends the process as a crash does; it stays away until it is wanted again.
func (p *process) kill() {
	p.dismiss()
	p.signal(syscall.SIGKILL)
	p.waitGone(10 * time.Second)
}

// drainTime is how long a stage may take to end when it is told to: longer than its --drain.
const drainTime = 45 * time.Second

// stuck is the exit code of a process that does not end when it is told to.
const stuck = -2

// drain ends the process as a deployment does, and reports its exit code; stuck if it had to be killed,
// and -1 if another fault has killed it meanwhile.
func (p *process) drain() int {
	p.dismiss()
	p.signal(syscall.SIGTERM)
	if !p.waitGone(drainTime) {
		p.signal(syscall.SIGQUIT) // Go writes to the log where it hangs
		p.waitGone(5 * time.Second)
		p.kill()
		return stuck
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.ProcessState.ExitCode()
}

// waitGone waits for the end of a process that was told to end.
func (p *process) waitGone(within time.Duration) bool {
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
