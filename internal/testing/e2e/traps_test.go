package e2e

import (
	"strings"
	"testing"

	"seine/internal/schedule/traps"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
)

// A crawl of an endless site, with some pages of text and a trap, gets all of the pages with the
// default guards, ends by itself, and reports which traps were cut and why.
func TestEndlessSitesAreLeftByThemselves(t *testing.T) {
	t.Parallel()
	for site, reasons := range map[testweb.SiteKind][]traps.Reason{
		testweb.SiteCalendar:      {traps.Calendar, traps.SameContent},
		testweb.SiteSessions:      {traps.SameContent},
		testweb.SiteKnownSessions: nil, // the names are known: all is normalised away
		testweb.SiteSoft404:       {traps.SameContent},
		testweb.SiteRepeater:      {traps.Repeats},
		testweb.SiteFacets:        {traps.ParameterOrder, traps.ParameterSets},
	} {
		t.Run(string(site), func(t *testing.T) {
			t.Parallel()
			seed, web := testSite(t, testweb.Config{Site: site})
			p := newWorkspace(t)
			c := p.crawl(seed.seed)
			c.expect(0)
			missing, wasted := web.Unfetched(0)
			if len(missing) > 0 || wasted > maxWasted {
				t.Errorf("missing are %d pages: %q; %d answers were for nothing, want at most %d", len(missing), missing, wasted, maxWasted)
			}
			s := c.summary()
			for _, r := range reasons {
				if s.URLs.Excluded[string(r)] == 0 {
					t.Errorf("excluded are %v: nothing for %s", s.URLs.Excluded, r)
				}
			}
			t.Logf("%d pages, %d for nothing, excluded %v", s.Pages, wasted, s.URLs.Excluded)
		})
	}
}

// maxWasted limits the cost of a trap: a few times the number of pages after which the guards
// evaluate a site (crawlspec.DefaultTraps).
const maxWasted = 1500

// Without its guard, a crawl of the same trap ends only at a limit.
func TestGuardsCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	seed, web := testSite(t, testweb.Config{Site: testweb.SiteSoft404})
	p := newWorkspace(t)
	spec := file(t, "spec.yaml", "traps: {same_content_after: 0}\nmax_pages: 2500\n")
	c := p.crawl(seed.seed, "--spec", spec)
	c.expect(3)
	if _, wasted := web.Unfetched(0); wasted <= maxWasted {
		t.Errorf("%d answers were for nothing, want all that the limit allows", wasted)
	}
	for r := range c.summary().URLs.Excluded {
		if strings.HasPrefix(r, "trap_same") {
			t.Errorf("something was cut by %s", r)
		}
	}
	if crawlspec.DefaultTraps().SameContentAfter == 0 {
		t.Error("the guard is off by default")
	}
}
