package overview

import (
	"slices"
	"testing"
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
		"one is missing":      {without("parser"), without("parser"), []string{"nobody runs parser"}},
		"a writer of several": {without("writer pages"), without("writer pages"), []string{"nobody runs writer pages"}},
		"several":             {without("fetcher", "parser"), without("parser", "fetcher"), []string{"nobody runs fetcher, parser"}},
		"busy in one look":    {without("parser"), without("fetcher"), nil},
		"never was any":       {new(Overview), new(Overview), []string{"nobody runs frontier, fetcher, parser, writer"}},
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
