package pages

import (
	"strings"
	"testing"
	"time"

	"seine/internal/ops/overview"
)

// Crawls are sorted by their last activity; active crawls keep their positions between updates.
func TestCrawlsAreSortedByActivity(t *testing.T) {
	now := time.Now()
	crawl := func(name string, started, changed time.Duration) (c overview.Crawl) {
		c.Name, c.Started, c.Changed = name, now.Add(-started).UnixMilli(), now.Add(-changed).UnixMilli()
		return c
	}
	var names []string
	for _, c := range byActivity([]overview.Crawl{
		{Name: "never"}, crawl("old", 9*time.Hour, 8*time.Hour), crawl("first", time.Hour, time.Second), crawl("ended", 2*time.Hour, time.Hour), crawl("second", time.Minute, 3*time.Second),
	}, now) {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "second first ended old never" {
		t.Errorf("the order is %s", got)
	}
}
