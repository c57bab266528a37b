package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"seine/internal/run/crawl"
	"seine/internal/testing/testweb"
)

// A running crawl ends by its current spec: at a lowered limit at once, at a raised one later, and
// when it is cancelled, even with a schedule.
func TestRunningCrawlEndsByItsSpecOfNow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before, after string
		outcome             crawl.Outcome
		pages               int64
		code                int
	}{
		{"a lower limit", "max_pages: 20", "max_pages: 3", crawl.OutcomeLimit, 3, 3},
		{"a higher limit", "max_pages: 1", "max_pages: 5", crawl.OutcomeLimit, 5, 3},
		{"cancelled", `schedule: "@every 720h"`, "schedule: \"@every 720h\"\nstate: cancelled", crawl.OutcomeCancelled, 1, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site, web := testSite(t, testweb.Config{PagesPerHost: 30})
			g := newGate(t, web, "/gate")
			held := strings.TrimSuffix(site.seed, "/") + "/gate"
			spec := func(line string) string {
				return file(t, "spec.yaml", "allow_private: true\ndelay: 200ms\nper_host: 1\n"+line+"\n")
			}
			p := newWorkspace(t)
			run := seine(t, "", "crawl", "--data", p.data, "--out", p.out, "--quiet", "--json", "--spec", spec(c.before), held, site.seed)
			g.wait(t)
			applied := runSeine(t, "spec", "apply", spec(c.after), "--crawl", "default", "--data", p.data)
			rev := regexp.MustCompile(`revision (\d+)`).FindStringSubmatch(applied.stdout.String())
			if rev == nil {
				t.Fatalf("no revision: %s", applied.said())
			}
			eventually(t, patience, "have the frontier know the changed spec", func() (bool, string) {
				out := runSeine(t, "explain", held, "--json", "--data", p.data)
				return regexp.MustCompile(fmt.Sprintf(`"rev": ?%s\b`, rev[1])).MatchString(out.stdout.String()), out.said()
			})
			g.open()
			run.expect(c.code)
			if s := run.summary(); s.Outcome != c.outcome || s.Pages != c.pages {
				t.Errorf("%s with %d pages, want %s with %d; %s", s.Outcome, s.Pages, c.outcome, c.pages, run.said())
			}
		})
	}
}
