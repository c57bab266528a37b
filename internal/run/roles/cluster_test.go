package roles_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/run/roles/setup"
	"seine/internal/testing/natscluster"
	"seine/internal/testing/slow"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// startCluster starts three nodes with the users of an installation.
func startCluster(ctx context.Context, t *testing.T) (bus, *natscluster.Cluster) {
	t.Helper()
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "installation.yaml"), []byte(strings.Replace(someSite, "STORE", t.TempDir(), 1)), 0o600))
	_, err := setup.Run(dir)
	check(t, err)
	server := filepath.Join(dir, "server")
	users, err := os.ReadFile(filepath.Join(server, "users.conf"))
	check(t, err)
	grants, err := os.ReadFile(filepath.Join(server, "roles.conf"))
	check(t, err)
	tls := fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true, timeout: 30 }\nauthorization { timeout: 30 }\n",
		filepath.Join(server, "cert.pem"), filepath.Join(server, "key.pem"), filepath.Join(server, "ca.pem"))
	nodes, err := natscluster.Start(ctx, t.TempDir(), 3, natscluster.Options{
		Config: tls + strings.Replace(string(users), `include "roles.conf"`, string(grants), 1),
	})
	check(t, err)
	t.Cleanup(nodes.Close)
	check(t, nodes.WaitReady(ctx))
	var urls []string
	for _, n := range nodes.Nodes() {
		urls = append(urls, strings.Replace(n.URL(), "nats://", "tls://", 1))
	}
	return bus{strings.Join(urls, ","), filepath.Join(dir, "users")}, nodes
}

// makerOf runs a frontier that creates consumers, until it is killed.
func makerOf(t *testing.T, b bus) (*stages.Bus, func()) {
	t.Helper()
	frontier := b.dial(t, "frontier")
	_, err := stages.MakeConsumers(frontier)
	check(t, err)
	check(t, frontier.NC.Flush())
	return frontier, frontier.NC.Close
}

// parsing is a parser that reports the pages it has handled.
type parsing struct {
	handled chan string
	end     func()
}

// parse starts a parser like a process, with its own connection.
func parse(t *testing.T, b bus) parsing {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p, ended := parsing{handled: make(chan string, 100)}, make(chan error, 1)
	r := &stages.Runner{
		Stage: messages.StageParser, Bus: b.dial(t, "parser"), Stream: messages.StreamPages,
		Consumer: messages.WorkConsumer(messages.ConsumerParse, "seine.pages.*.*", 100), Workers: 4, Drain: time.Second,
		Handle: func(_ context.Context, m *stages.Message) (stages.Output, error) {
			p.handled <- string(m.Data)
			return stages.Output{}, nil
		},
	}
	go func() { ended <- r.Run(ctx) }()
	p.end = func() { cancel(); check(t, <-ended) }
	return p
}

// wantPages publishes pages as a fetcher does and waits until each has been handled.
func (p parsing) wantPages(ctx context.Context, t *testing.T, fetcher *stages.Bus, when string) {
	t.Helper()
	missing := make(map[string]bool)
	for i := range 10 {
		text := fmt.Sprintf(`{"when":%q,"n":%d}`, when, i)
		missing[text] = true
		publisher := stages.NewPublisher(fetcher, "test")
		m := nats.NewMsg("seine.pages.news.0")
		m.Data = []byte(text)
		m.Header.Set(jetstream.MsgIDHeader, text)
		check(t, publisher.Publish(ctx, m))
	}
	for len(missing) > 0 {
		select {
		case text := <-p.handled:
			delete(missing, text)
		case <-ctx.Done():
			t.Fatalf("%s: %d of 10 pages are not handled", when, len(missing))
		}
	}
}

// Roles with their own accounts work on a cluster, even if the frontier that created their
// consumers is killed, the leader of their stream moves, or its node is killed.
func TestRolesWorkOverACluster(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	b, nodes := startCluster(ctx, t)
	first, kill := makerOf(t, b)
	check(t, first.Provision(ctx, 2, messages.DefaultStreamLimits(), 3))
	fetcher, admin := b.dial(t, "fetcher"), b.dial(t, "admin")
	check(t, fetcher.Join(ctx))
	p := parse(t, b)
	p.wantPages(ctx, t, fetcher, "at first")

	kill()
	p.wantPages(ctx, t, fetcher, "without a frontier")
	p.end()
	p = parse(t, b)
	p.wantPages(ctx, t, fetcher, "started without a frontier")
	p.end()
	makerOf(t, b)
	p = parse(t, b)
	defer func() { p.end() }()
	p.wantPages(ctx, t, fetcher, "with another frontier")

	leader := leaderOf(ctx, t, admin, messages.StreamPages)
	_, err := admin.NC.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+messages.StreamPages, nil)
	check(t, err)
	for leaderOf(ctx, t, admin, messages.StreamPages) == leader {
		check(t, sleep.For(ctx, 10*time.Millisecond))
	}
	p.wantPages(ctx, t, fetcher, "with another leader")

	leader = leaderOf(ctx, t, admin, messages.StreamPages)
	for _, n := range nodes.Nodes() {
		if n.Name() == leader {
			n.Kill()
		}
	}
	p.wantPages(ctx, t, fetcher, "without the node of the leader")
}

// leaderOf waits until a node leads a stream and returns its name.
func leaderOf(ctx context.Context, t *testing.T, b *stages.Bus, stream string) string {
	t.Helper()
	for {
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		s, err := b.JS.Stream(once, stream)
		cancel()
		if err == nil && s.CachedInfo().Cluster != nil && s.CachedInfo().Cluster.Leader != "" {
			return s.CachedInfo().Cluster.Leader
		}
		check(t, sleep.For(ctx, 10*time.Millisecond))
	}
}
