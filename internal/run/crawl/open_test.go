package crawl

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/base/sleep"
	"seine/internal/run/embedded"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/frontierapi"
)

// A query about a stored crawl sees all of it: the specs are loaded, and messages are applied that
// the crawl had not processed.
func TestAllThatIsStoredIsTakenInBeforeItIsAskedAbout(t *testing.T) {
	t.Parallel()
	const crawls, urls = 1000, 3000
	data, log := t.TempDir(), slog.New(slog.DiscardHandler)
	store(t, data, func(bus *stages.Bus) {
		specs, err := stages.OpenSpecs(t.Context(), bus)
		if err != nil {
			t.Fatal(err)
		}
		for i := range crawls {
			spec := crawlspec.Default()
			spec.MaxPages = int64(i + 1)
			if _, err := specs.Put(t.Context(), fmt.Sprintf("c%d", i), &spec); err != nil {
				t.Fatal(err)
			}
		}
		for i := range urls {
			found := messages.Candidates{Crawl: "c0", Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: fmt.Sprintf("http://h%d.test/", i)}}}
			m := &nats.Msg{Subject: messages.SubjectURLs(found.Source, "c0", 0), Data: found.Encode()}
			if _, err := bus.JS.PublishMsg(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	})
	err := Open(t.Context(), data, log, func(ctx context.Context, bus *stages.Bus) error {
		client := frontierapi.Client{Bus: bus}
		last, spec := fmt.Sprint("c", crawls-1), crawlspec.Default()
		if end, _, err := client.CheckEnded(ctx, last, &spec); end != frontierapi.Empty {
			t.Errorf("a crawl that was never fed has the end %q, want %q; %v", end, frontierapi.Empty, err)
		}
		if n, err := client.Status(ctx, "c0"); n.Known() != urls {
			t.Errorf("%d of %d URLs are known, %v", n.Known(), urls, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Opening a stored crawl sends no fetch requests, because no fetcher runs.
func TestLookIntoAStoredCrawlSendsNoRequest(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	store(t, data, func(bus *stages.Bus) {
		seed := &nats.Msg{Subject: messages.SubjectSeeds("c"), Data: []byte("http://h.test/")}
		if _, err := bus.JS.PublishMsg(t.Context(), seed); err != nil {
			t.Fatal(err)
		}
	})
	err := Open(t.Context(), data, slog.New(slog.DiscardHandler), func(ctx context.Context, bus *stages.Bus) error {
		client := frontierapi.Client{Bus: bus}
		for ctx.Err() == nil {
			n, err := client.Status(ctx, "c")
			if err != nil || n.Known() > 0 {
				if n.Queued != 1 {
					t.Errorf("a host may be asked, and the URL is not queued: %+v", n)
				}
				return err
			}
			_ = sleep.For(ctx, openPoll)
		}
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// store calls do with a connection to the directory of a stopped crawl.
func store(t *testing.T, data string, do func(*stages.Bus)) {
	t.Helper()
	server, err := embedded.Start(embedded.Options{Dir: filepath.Join(data, "nats"), Private: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(server.Server()))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	cfg := frontier.DefaultConfig()
	cfg.Partitions, cfg.SnapshotEvery = Partitions, 0
	if err := frontier.Provision(t.Context(), cfg, bus); err != nil {
		t.Fatal(err)
	}
	do(bus)
}
