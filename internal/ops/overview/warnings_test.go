package overview

import (
	"slices"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

func TestWarnings(t *testing.T) {
	t.Parallel()
	all := []Stage{
		{Name: "frontier", Instances: 1}, {Name: "fetcher", Instances: 2}, {Name: "parser", Instances: 1},
		{Name: "writer default", Instances: 1}, {Name: "writer pages", Instances: 1},
	}
	without := func(names ...string) *Overview {
		o := &Overview{Stages: slices.Clone(all)}
		for i := range o.Stages {
			if slices.Contains(names, o.Stages[i].Name) {
				o.Stages[i].Instances = 0
			}
		}
		return o
	}
	// rendering returns an overview with a number of renderers, their lag, and a crawl.
	rendering := func(instances int, lag uint64, c Crawl) *Overview {
		o := without()
		o.Stages = append(o.Stages, Stage{Name: "renderer", Instances: instances, Lag: lag})
		o.Crawls = []Crawl{c}
		return o
	}
	wants := Crawl{State: Running, Spec: &crawlspec.Spec{Render: &crawlspec.Render{Mode: crawlspec.RenderAlways}}}
	paused, over := wants, wants
	paused.State, over.State = Paused, State(frontierapi.Complete)
	filled := func(bytes uint64) *Overview {
		o := without()
		o.Streams = []Stream{{Name: "FETCH", Bytes: 1 << 40}, {Name: "DEAD", Bytes: 1000, Limit: 1000}, {Name: "PAGES", Bytes: bytes, Limit: 1000}}
		return o
	}
	for name, c := range map[string]struct {
		before, now *Overview
		want        []string
	}{
		"all run":             {without(), without(), nil},
		"one is missing":      {without("parser"), without("parser"), []string{"no running parser"}},
		"a writer of several": {without("writer pages"), without("writer pages"), []string{"no running writer pages"}},
		"several":             {without("fetcher", "parser"), without("parser", "fetcher"), []string{"no running fetcher, parser"}},
		"busy in one look":    {without("parser"), without("fetcher"), nil},
		"no renderer":         {rendering(0, 0, wants), rendering(0, 0, wants), []string{"no running renderer"}},
		"a renderer runs":     {rendering(1, 9, wants), rendering(1, 9, wants), nil},
		"its crawl is paused": {rendering(0, 0, paused), rendering(0, 0, paused), nil},
		"its crawl is over":   {rendering(0, 0, over), rendering(0, 0, over), nil},
		"pages are left":      {rendering(0, 1, paused), rendering(0, 1, paused), []string{"no running renderer"}},
		"never was any":       {new(Overview), new(Overview), []string{"no running frontier, fetcher, parser, writer"}},
		"stream has room":     {filled(900), filled(900), nil},
		"stream nearly full":  {filled(100), filled(930), []string{"stream PAGES is 93% full"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.now.ComputeRates(c.before); !slices.Equal(c.now.Warnings, c.want) {
				t.Errorf("got %q, want %q", c.now.Warnings, c.want)
			}
		})
	}
}
