package crawl

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/stagestest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Concurrent changes of a spec during the start of a crawl are kept, both before the crawl stores
// its own and while it publishes its seeds.
func TestChangesOfASpecWhileACrawlBeginsStay(t *testing.T) {
	t.Parallel()
	_, bus := stagestest.Open(t)
	specs, stop, err := stages.FollowSpecs(t.Context(), bus)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	change := func(do func(*crawlspec.Spec)) {
		_, err := specs.Change(context.WithoutCancel(t.Context()), "shop", func(s *crawlspec.Spec) error {
			do(s)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	tries, paused := 0, make(chan struct{})
	c := &crawl{bus: bus, specs: specs, Options: Options{Crawl: "shop", Log: slog.New(slog.DiscardHandler), Spec: func(s crawlspec.Spec) (*crawlspec.Spec, error) {
		if tries++; tries == 1 {
			change(func(s *crawlspec.Spec) { s.Hosts = []string{"a.example"} })
		}
		s.MaxPages = 7
		return &s, nil
	}}}
	const seeds = 3000 // enough to be published in several parts
	for range seeds {
		c.Seeds = append(c.Seeds, messages.Seed{URL: "https://a.example/" + strings.Repeat("x", 1000)})
	}
	sub, err := bus.NC.Subscribe(messages.SubjectSeeds("shop"), func(*nats.Msg) {
		select {
		case <-paused:
		default:
			change(func(s *crawlspec.Spec) { s.State = crawlspec.Paused })
			close(paused)
		}
	})
	if err == nil {
		err = bus.NC.Flush()
	}
	if err == nil {
		err = c.publishSeeds(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	<-paused
	if err := sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	text, _, err := bus.ReadKey(t.Context(), messages.BucketCrawls, "shop")
	if err != nil {
		t.Fatal(err)
	}
	s, err := crawlspec.Decode(text)
	if err != nil || s.MaxPages != 7 || len(s.Hosts) != 1 || s.State != crawlspec.Paused {
		t.Errorf("after %d tries, the spec has max_pages %d, hosts %v, state %s; %v", tries, s.MaxPages, s.Hosts, s.State, err)
	}
}
