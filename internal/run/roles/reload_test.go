package roles_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/run/roles/setup"
	"seine/internal/testing/freeport"
	"seine/internal/testing/natscluster"
	"seine/internal/testing/slow"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// process is a nats-server in its own process. Inside a test process a reload has a data race
// (2.15.2: Server.diffOptions reads what a client writes).
type process struct {
	cmd *exec.Cmd
	log string
}

func startProcess(t *testing.T, conf string) *process {
	t.Helper()
	path, err := natscluster.Server(t.Context())
	check(t, err)
	p := &process{log: filepath.Join(t.TempDir(), "log")}
	p.cmd = exec.Command(path, "-c", conf, "-l", p.log) //nolint:gosec // ended below
	check(t, p.cmd.Start())
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	p.await(t, "Server is ready", 1)
	return p
}

// reload makes the server reload its configuration and waits for the end of the reload.
func (p *process) reload(t *testing.T) {
	t.Helper()
	const done = "Reloaded server configuration"
	before := p.said(done)
	check(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.await(t, done, before+1)
}

func (p *process) said(what string) int {
	text, _ := os.ReadFile(p.log) // the file may not exist yet
	return strings.Count(string(text), what)
}

func (p *process) await(t *testing.T, what string, times int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); p.said(what) < times; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(p.log)
			t.Fatalf("the server does not say %q: %s", what, text)
		}
	}
}

// Exports and imports between accounts survive a reload of the server's configuration.
func TestReloadKeepsTheImports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	port := freeport.Addr(t)
	site := strings.NewReplacer("STORE", t.TempDir(), "listen: 127.0.0.1:-1", "listen: "+port).Replace(someSite)
	check(t, os.WriteFile(filepath.Join(dir, "installation.yaml"), []byte(site), 0o600))
	_, err := setup.Run(dir)
	check(t, err)
	s := startProcess(t, filepath.Join(dir, "server", "nats-server.conf"))
	b := bus{"tls://" + port, filepath.Join(dir, "users")}
	frontier, parser := b.dial(t, "frontier"), b.dial(t, "parser")
	check(t, frontier.Provision(t.Context(), 2, messages.DefaultStreamLimits(), 1))
	stop, err := stages.MakeConsumers(frontier)
	check(t, err)
	defer stop()
	try := func(when string) {
		t.Helper()
		deadline := time.Now().Add(10 * time.Second)
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err := parser.JS.CreateOrUpdateConsumer(ctx, messages.StreamPages, jetstream.ConsumerConfig{
				Durable: "parser", FilterSubject: "seine.pages.*.*", AckPolicy: jetstream.AckExplicitPolicy,
			})
			cancel()
			if err == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", when, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	try("at first")
	s.reload(t)
	try("after a reload")
	file := filepath.Join(dir, "server", "roles.conf")
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(file, []byte(strings.Replace(string(text), `    "seine.fetch.*.*"`+"\n", "", 1)), 0o600))
	s.reload(t)
	try("after the frontier lost a right")
	check(t, os.WriteFile(file, text, 0o600))
	s.reload(t)
	try("after it got it again")
}

// A stage that starts without a running frontier uses its existing consumer.
func TestStageStartsWithoutAFrontier(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	b := start(t)
	frontier := b.dial(t, "frontier")
	check(t, frontier.Provision(t.Context(), 2, messages.DefaultStreamLimits(), 1))
	stop, err := stages.MakeConsumers(frontier)
	check(t, err)
	done := make(chan string)
	run := func() (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		r := &stages.Runner{
			Stage: messages.StageParser, Bus: b.dial(t, "parser"), Stream: messages.StreamPages,
			Consumer: messages.WorkConsumer(messages.ConsumerParse, "seine.pages.*.*", 10), Workers: 1, Drain: time.Second,
			Handle: func(ctx context.Context, m *stages.Message) (stages.Output, error) {
				select {
				case done <- m.Subject:
				case <-ctx.Done():
				}
				return stages.Output{}, nil
			},
		}
		go func() { ended <- r.Run(ctx) }()
		return func() { cancel(); check(t, <-ended) }
	}
	admin := b.dial(t, "admin")
	for i := range 2 {
		_, err := admin.JS.Publish(t.Context(), "seine.pages.x.0", []byte("{}"))
		check(t, err)
		end := run()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatalf("run %d gets no page", i)
		}
		end()
		if i == 0 {
			stop() // stop the frontier
			check(t, frontier.NC.Flush())
		}
	}
}
