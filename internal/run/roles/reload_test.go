package roles_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/run/roles/setup"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// What accounts give to each other outlives a reload of the server's configuration.
func TestReloadKeepsTheImports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "installation.yaml"), []byte(strings.Replace(someSite, "STORE", t.TempDir(), 1)), 0o600))
	_, err := setup.Run(dir)
	check(t, err)
	conf := filepath.Join(dir, "server", "nats-server.conf")
	opts, err := server.ProcessConfigFile(conf)
	check(t, err)
	opts.NoSigs, opts.NoLog = true, true
	s := natstest.Start(t, opts)
	b := bus{"tls://" + s.Addr().String(), filepath.Join(dir, "users")}
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
	check(t, s.Reload())
	try("after a reload")
	file := filepath.Join(dir, "server", "roles.conf")
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(file, []byte(strings.Replace(string(text), `    "seine.fetch.*.*"`+"\n", "", 1)), 0o600))
	check(t, s.Reload())
	try("after the frontier lost a right")
	check(t, os.WriteFile(file, text, 0o600))
	check(t, s.Reload())
	try("after it got it again")
}

// A stage that starts while no frontier runs takes the consumer that it has made
// before.
func TestStageStartsWithoutAFrontier(t *testing.T) {
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
			stop() // the frontier ends
			check(t, frontier.NC.Flush())
		}
	}
}
