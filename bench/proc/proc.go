// Package proc starts commands of this tree, and the nats-server that it is tested with, as processes of their own, and
// reads what they cost.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"seine/internal/base/childproc"
	"seine/internal/base/sleep"
)

// NATSServer is the command of the broker.
const NATSServer = "nats-server"

// Build makes commands of this tree, and the nats-server that it is tested with, in a new folder of dir.
func Build(ctx context.Context, dir string, commands ...string) (bin string, err error) {
	return BuildWith(ctx, dir, nil, commands...)
}

// BuildWith is Build with further flags of go build.
func BuildWith(ctx context.Context, dir string, flags []string, commands ...string) (bin string, err error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "seine").Output()
	if err != nil {
		return "", errors.New("run it in the folder bench/ of a checkout: the module seine is not to be found here")
	}
	bin = filepath.Join(dir, "bin")
	packages := map[string]string{NATSServer: "github.com/nats-io/nats-server/v2"}
	for _, name := range commands {
		packages[name] = "./cmd/" + name
	}
	for name, pkg := range packages {
		args := []string{"build", "-ldflags=-s -w", "-pgo=internal/release/cpu.pgo", "-o", filepath.Join(bin, name)} // as in a release
		args = append(args, flags...)
		c := exec.CommandContext(ctx, "go", append(args, pkg)...)                             //nolint:gosec // fixed
		c.Dir, c.Env = strings.TrimSpace(string(root)), append(os.Environ(), "CGO_ENABLED=0") // as make and the images do
		if text, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w: %s", name, err, bytes.TrimSpace(text))
		}
	}
	return bin, writeNATSConfig(bin)
}

// Commands returns a folder with commands: bin, in which Build or `go build` has put them and nats-server, or what Build
// makes in work if bin is empty.
func Commands(ctx context.Context, work, bin string, commands ...string) (string, error) {
	if bin == "" {
		return Build(ctx, work, commands...)
	}
	for _, name := range append([]string{NATSServer}, commands...) {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return "", fmt.Errorf("find the commands that were built: %w", err)
		}
	}
	return bin, writeNATSConfig(bin)
}

// writeNATSConfig raises what the server would take by default, three quarters of the disk that is free: it may be below
// what streams reserve.
func writeNATSConfig(bin string) error {
	if err := os.WriteFile(natsConfig(bin), []byte("jetstream { max_file_store: 256GB }\n"), 0o600); err != nil {
		return fmt.Errorf("write configuration of nats-server: %w", err)
	}
	return nil
}

func natsConfig(bin string) string { return filepath.Join(bin, NATSServer+".conf") }

// NATSArgs are the arguments of a nats-server of folder bin, which listens on a port of the loopback interface and keeps
// its streams in folder store.
func NATSArgs(bin, store, port string) []string {
	return []string{"-c", natsConfig(bin), "-js", "-sd", store, "-a", "127.0.0.1", "-p", port}
}

// Process is a command that runs until it is stopped.
type Process struct {
	name     string
	cmd      *exec.Cmd
	stopping atomic.Bool
	ended    chan struct{}
}

// Start starts a command, whose output goes to a file of folder logs. If it ends by itself, fail is told.
func Start(fail context.CancelCauseFunc, logs, path string, args ...string) (*Process, error) {
	p := &Process{name: filepath.Base(path), ended: make(chan struct{})}
	log, err := os.CreateTemp(logs, p.name+"-*.log")
	if err != nil {
		return nil, fmt.Errorf("make log: %w", err)
	}
	p.cmd = exec.Command(path, args...)                 //nolint:gosec // stopped by Stop
	p.cmd.Env = append(os.Environ(), "SEINE_NATS_URL=") // arguments say which, or none
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the bench
	if err := childproc.Start(p.cmd); err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	go func() {
		err := p.cmd.Wait()
		_ = log.Close()
		close(p.ended)
		if !p.stopping.Load() {
			fail(fmt.Errorf("%s ended by itself: %w\n%s", p.name, err, lastLines(log.Name())))
		}
	}()
	return p, nil
}

// drainTime is how long a process that is stopped gently may take.
const drainTime = time.Minute

// Stop ends the process, with time to drain if asked.
func (p *Process) Stop(gently bool) {
	p.stopping.Store(true)
	if gently {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
			return
		case <-time.After(drainTime):
		}
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Run runs a command to its end, and returns the time in seconds that it has had on all cores.
func Run(ctx context.Context, path string, args ...string) (seconds float64, err error) {
	cmd := exec.CommandContext(ctx, path, args...)    //nolint:gosec // a command of this tree
	cmd.Env = append(os.Environ(), "SEINE_NATS_URL=") // arguments say which, or none
	text, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, bytes.TrimSpace(text[max(0, len(text)-2000):]))
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// PID is what /proc knows it by.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// lastLines returns the end of a log.
func lastLines(file string) string {
	text, _ := os.ReadFile(file) //nolint:gosec // made by Start
	return strings.TrimSpace(string(text[max(0, len(text)-2000):]))
}

// FreePorts finds ports of the loopback interface that nobody listens on.
func FreePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a port: %w", err)
		}
		defer func() { _ = l.Close() }() // all at once, so that they differ
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

// Await asks a process for something until it has it, for a minute at most.
func Await(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := Get(ctx, url)
		if err == nil {
			return nil
		}
		if sleep.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("wait for %s: %w", url, err)
		}
	}
}

// Get asks a process for what it serves at a URL.
func Get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, bytes.TrimSpace(text))
	}
	return text, err
}
