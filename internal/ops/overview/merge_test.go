package overview

import (
	"slices"
	"testing"

	"github.com/nats-io/nats.go/micro"
)

// Most clusters render nothing and list no renderer: it is listed only if pages wait for it or a
// crawl needs it.
func TestRendererIsListedWhereItIsWanted(t *testing.T) {
	t.Parallel()
	services := []micro.Info{
		{ServiceIdentity: micro.ServiceIdentity{Name: "seine-fetcher"}}, {ServiceIdentity: micro.ServiceIdentity{Name: "seine-renderer"}},
	}
	for name, c := range map[string]struct {
		consumer, wanted bool
		services         []micro.Info
		want             []Stage
	}{
		"nobody wants it":       {false, false, services[:1], []Stage{{Name: "fetcher", Instances: 1}}},
		"it could render":       {false, false, services, []Stage{{Name: "fetcher", Instances: 1}}},
		"a crawl wants it":      {false, true, services[:1], []Stage{{Name: "fetcher", Instances: 1}, {Name: "renderer"}}},
		"it runs":               {true, true, services, []Stage{{Name: "fetcher", Instances: 1}, {Name: "renderer", Instances: 1}}},
		"it ran for a crawl":    {true, false, services[:1], []Stage{{Name: "fetcher", Instances: 1}, {Name: "renderer"}}},
		"it waits for requests": {true, false, services, []Stage{{Name: "fetcher", Instances: 1}, {Name: "renderer", Instances: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			byStage := make(map[string]*Stage)
			if c.consumer {
				byStage["renderer"] = &Stage{Name: "renderer"}
			}
			got := merge(byStage, c.services, c.wanted)
			if !slices.EqualFunc(got, c.want, func(a, b Stage) bool { return a.Name == b.Name && a.Instances == b.Instances }) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// Each durable consumer of the pipeline belongs to a stage.
func TestStageOfAConsumer(t *testing.T) {
	t.Parallel()
	for durable, want := range map[string]string{
		"frontier-urls-3": "frontier", "fetcher": "fetcher", "renderer": "renderer", "parser": "parser", "writer-pages-12": "writer pages", "mine": "",
	} {
		if got := stageOf(durable); got != want {
			t.Errorf("%s is read by %q, want %q", durable, got, want)
		}
	}
}
