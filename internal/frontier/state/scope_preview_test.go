package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

func TestOutlook(t *testing.T) {
	spec := crawlspec.Default()
	spec.Exclude, spec.Hosts, spec.MaxDepth = []string{"*.pdf"}, []string{"other.example"}, new(2)
	spec.Priorities = []crawlspec.PriorityRule{{Match: "*/news/*", Priority: 1}}
	o, err := NewScopePreview(&spec, "https://a.example/x", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url      string
		depth    int
		given    *int
		excluded string
		priority int
	}{
		{"https://a.example/y", 1, nil, "", messages.DefaultPriority},
		{"https://a.example/y", 1, new(3), "", 3},
		{"https://a.example/news/1", 1, new(3), "", 1},
		{"https://other.example/y", 1, nil, "", messages.DefaultPriority},
		{"https://b.example/y", 1, nil, frontierapi.ReasonScope, messages.DefaultPriority},
		{"https://a.example/y.pdf", 1, nil, frontierapi.ReasonExclude, messages.DefaultPriority},
		{"https://a.example/y", 3, nil, frontierapi.ReasonDepth, messages.DefaultPriority},
		{"https://a.example/r/r/r/r/r/", 1, nil, "trap_repeats", messages.DefaultPriority},
	} {
		excluded, priority := o.Evaluate(c.url, c.depth, c.given)
		if excluded != c.excluded || priority != c.priority {
			t.Errorf("%s at %d: got %q, %d, want %q, %d", c.url, c.depth, excluded, priority, c.excluded, c.priority)
		}
	}
}
