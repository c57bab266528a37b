package lookup

import (
	"errors"
	"slices"
	"testing"

	"seine/internal/testing/stagestest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A crawl exists if it has a spec or got seeds. For an unknown name a similar one is suggested.
func TestCrawlIsThereThatHasASpecOrWasFed(t *testing.T) {
	_, bus := stagestest.Open(t)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	if err != nil {
		t.Fatal(err)
	}
	spec := crawlspec.Default()
	if _, err := specs.Put(t.Context(), "news", &spec); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.JS.Publish(t.Context(), messages.SubjectSeeds("fed"), []byte("http://a.test/")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"news", "fed"} {
		if err := Crawl(t.Context(), bus, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	err = Crawl(t.Context(), bus, "nwes")
	none, is := errors.AsType[*NotFoundError](err)
	if !is || none.Meant != "news" || !slices.Equal(none.Others, []string{"fed", "news"}) || err.Error() != "no crawl nwes; did you mean news?" {
		t.Errorf("%v", err)
	}
}

// Without a name the default crawl is used or, if that does not exist, the only one.
func TestDefaultIsTheOnlyCrawl(t *testing.T) {
	_, bus := stagestest.Open(t)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	if err != nil {
		t.Fatal(err)
	}
	spec := crawlspec.Default()
	for _, step := range []struct{ add, want string }{
		{"", messages.DefaultCrawl}, {"news", "news"}, {"shop", messages.DefaultCrawl}, {messages.DefaultCrawl, messages.DefaultCrawl},
	} {
		if step.add != "" {
			if _, err := specs.Put(t.Context(), step.add, &spec); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Default(t.Context(), bus); got != step.want || err != nil {
			t.Errorf("with %s it is %s, %v; want %s", step.add, got, err, step.want)
		}
	}
}
