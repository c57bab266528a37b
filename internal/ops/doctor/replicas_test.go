package doctor

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/testing/natscluster"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func startNodes(ctx context.Context, t *testing.T, n int) *stages.Bus {
	t.Helper()
	c, err := natscluster.Start(ctx, t.TempDir(), n, natscluster.Options{})
	check(t, err)
	t.Cleanup(c.Close)
	check(t, c.WaitReady(ctx))
	bus, err := stages.Dial(c.URL(), "test", slog.New(slog.DiscardHandler))
	check(t, err)
	t.Cleanup(bus.Close)
	return bus
}

// awaitFinding repeats the check until the worst finding has the expected level and text.
func awaitFinding(ctx context.Context, t *testing.T, bus *stages.Bus, level Level, what string) {
	t.Helper()
	for {
		found, err := replicas(ctx, bus)
		if err == nil && Worst(found) == level && len(found) > 0 && strings.Contains(found[0].What, what) {
			return
		}
		if sleep.For(ctx, 50*time.Millisecond) != nil {
			t.Fatalf("found %+v, %v; want %s %q", found, err, level, what)
		}
	}
}

// Streams created with one replica get three when a frontier requests them, and keep their
// messages.
func TestReplicasOfStreams(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bus := startNodes(ctx, t, 3)
	limits := messages.DefaultStreamLimits()
	check(t, bus.Provision(ctx, 4, limits, 1))
	_, err := bus.JS.Publish(ctx, messages.SubjectSeeds("c"), []byte("https://example.org/"))
	check(t, err)
	awaitFinding(ctx, t, bus, Warn, "one replica only")
	check(t, bus.Provision(ctx, 4, limits, 3))
	awaitFinding(ctx, t, bus, OK, "3 of each stream")
	last, err := bus.LastSequence(ctx, messages.StreamSeeds, messages.SubjectSeeds("c"))
	check(t, err)
	if last != 1 {
		t.Errorf("the last seed has sequence %d, want 1", last)
	}
}

func TestReplicasThatAreNotThere(t *testing.T) {
	gone := describe("URLS", &jetstream.PeerInfo{Name: "n3", Offline: true, Lag: 7})
	late := describe("PAGES", &jetstream.PeerInfo{Name: "n2", Lag: 12})
	found := judge([]string{"RESULTS"}, nil, []string{gone, late}, 3)
	if len(found) != 2 || Worst(found) != Fail {
		t.Fatalf("found %+v, want a stream without leader and two replicas behind", found)
	}
	for i, want := range []string{"no leader answers for RESULTS", "behind: PAGES on n2 (12 operations), URLS on n3 (offline)"} {
		if found[i].What != want || found[i].Do == "" {
			t.Errorf("found %+v, want %q and what to do", found[i], want)
		}
	}
}

func TestReplicasNeedServers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bus := startNodes(ctx, t, 1)
	err := bus.Provision(ctx, 4, messages.DefaultStreamLimits(), 3)
	if err == nil || !strings.Contains(err.Error(), "lower --replicas") {
		t.Errorf("three replicas on one server: %v, want what to do", err)
	}
	check(t, bus.Provision(ctx, 4, messages.DefaultStreamLimits(), 1))
	if found, err := replicas(ctx, bus); err != nil || len(found) > 0 {
		t.Errorf("found %+v, %v on a server in no cluster, want nothing", found, err)
	}
}
