package deadletters

import (
	"strings"
	"testing"
	"time"
)

func TestQueriesAreReadAsFilters(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	f, err := Query{Stage: "parser", Crawl: "shop", Reason: " line break ", Host: " a.example", Since: "2h"}.Filter(now)
	if want := (Filter{Stage: "parser", Crawl: "shop", Reason: "line break", Host: "a.example", Since: now.Add(-2 * time.Hour)}); err != nil || f != want {
		t.Errorf("%+v, %v, want %+v", f, err, want)
	}
	if f, err := (Query{}).Filter(now); err != nil || f != (Filter{}) {
		t.Errorf("%+v, %v", f, err)
	}
	for want, q := range map[string]Query{
		"must be frontier, fetcher, renderer, parser or writer": {Stage: "printer"}, "not a name": {Crawl: "not a name"},
		`since "soon": must be how long ago`: {Since: "soon"}, `since "-2h"`: {Since: "-2h"}, `since "0s"`: {Since: "0s"},
	} {
		if _, err := q.Filter(now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
}
