package stages

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// losses are ways in which the bucket loses the spec of a crawl.
var losses = map[string]func(t *testing.T, s *Specs){
	"key purged": func(t *testing.T, s *Specs) {
		if err := s.kv.Purge(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
	},
	"bucket made again": func(t *testing.T, s *Specs) {
		err := s.bus.JS.DeleteKeyValue(t.Context(), messages.BucketCrawls)
		if err == nil {
			err = s.bus.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1)
		}
		if err != nil {
			t.Fatal(err)
		}
	},
}

// In a process that starts after the loss, a message made under a lost revision of a spec finds its
// crawl stalled; a crawl that never had a spec uses the default. When a spec is stored again, under
// whatever revision, the crawl uses it.
func TestSpecs_RevisionIsLost_CrawlStandsStill(t *testing.T) {
	t.Parallel()
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, log := openSpecs(t)
			for range 3 { // so that the restored spec has a lower revision in a re-created bucket
				put(t, before, "other", 0)
			}
			rev := put(t, before, "c", time.Minute)
			lose(t, before)
			s := newSpecs(before.bus, before.kv)
			r := get(t, s, "c", rev)
			if !r.Stalled || r.Rev != rev || r.State != crawlspec.Paused || !strings.Contains(r.Unusable, "is missing") || !errors.Is(r.Blocked(), crawlspec.ErrStandsStill) {
				t.Errorf("the crawl goes by %+v", r)
			}
			if !log.Has("is missing") {
				t.Error("it is not logged")
			}
			if r := get(t, s, "fed", 0); r.Stalled || r.Rev != 0 || r.Delay != crawlspec.DefaultDelay {
				t.Errorf("a crawl without a spec goes by %+v", r)
			}
			pause := func(spec *crawlspec.Spec) error { return spec.SetState("", crawlspec.Paused) }
			if _, err := s.Change(t.Context(), "c", pause); !errors.Is(err, crawlspec.ErrStandsStill) {
				t.Errorf("a change of the lost spec: %v, want ErrStandsStill", err)
			}
			put(t, s, "c", time.Hour)
			if r := get(t, s, "c", rev); r.Stalled || r.Delay != crawlspec.Duration(time.Hour) {
				t.Errorf("with a spec it goes by %+v", r)
			}
			if _, err := s.Change(t.Context(), "c", pause); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process that follows the bucket notices that it was re-created: the crawl is stalled until a
// spec is stored in the new one.
func TestSpecs_BucketMadeAgainWhileFollowed_CrawlStandsStill(t *testing.T) {
	t.Parallel()
	s, _ := openSpecs(t)
	for range 3 {
		put(t, s, "other", 0)
	}
	await.Start(t, func(ctx context.Context) error { return s.Run(ctx, nil) })
	rev := put(t, s, "c", time.Minute)
	await.Eventually(t, "the spec is known", func() bool { known, _ := s.Revision("c"); return known == rev })
	generation := s.Generation()
	losses["bucket made again"](t, s)
	await.Eventually(t, "the loss is known", func() bool { return s.Generation() > generation && get(t, s, "c", rev).Stalled })
	if _, err := s.kv.Get(t.Context(), "c"); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Fatal(err)
	}
	again := put(t, s, "c", time.Hour)
	if again >= rev {
		t.Fatalf("the spec has revision %d, after %d", again, rev)
	}
	await.Eventually(t, "the spec is known again", func() bool {
		known, _ := s.Revision("c")
		return known == again && get(t, s, "c", rev).Delay == crawlspec.Duration(time.Hour)
	})
}
