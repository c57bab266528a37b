package state

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/schedule/traps"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// scope says why a URL is not fetched.
type scope struct {
	*base
	crawls *crawls
	urls   *urls
}

// exclusion returns why a URL must not be fetched, "" if it may: its host is out of the scope that the seeds of the
// crawl open (scope_roots.go), a rule of the spec or a guard against traps is against it, or the crawl is cancelled.
//
// These guards are elsewhere, because they compare a URL with others or count pages:
//   - The traps that compare a new URL with earlier ones: trapReason (trap_check.go), which admit (visits.go) asks
//     after this one; and again trapAtDispatch, which nextOfCrawl (dispatcher.go) asks before it sends a request.
//   - max_pages_per_host: admit, and again nextOfCrawl.
//
// A new reason has a name in frontierapi/reasons.go and a line in stands (reviews.go): without that, its URLs stay
// excluded when the spec changes. The keys of the rules are in crawlspec/spec.go, rules.go compiles them, and
// internal/run/crawl/dry_run.go shows them.
//
// When the spec changes, reevaluate (reviews.go) judges the known URLs again; it also excludes those that have another
// name now (ReasonNormalized). ScopePreview (scope_preview.go) says the same of a page that is not crawled.
//
// The fetcher applies include and exclude once more (fetcher/redirect_scope.go), to URLs on a circle of redirects that it
// follows without asking the frontier. It alone applies robots.txt (fetcher/robots_check.go), refuses addresses that must not
// be dialled (internal/fetch/netguard) and types that are not kept; applyOutcome (visits.go) excludes their URLs.
func (s *scope) exclusion(crawl string, r *urlRecord, rules *Rules, wall int64) (reason string, err error) {
	opened, err := s.inScope(crawl, r, rules)
	if err != nil {
		return "", err
	}
	return rules.exclusionReason(r, opened, wall), nil
}

// inScope reports whether a URL is in the scope of its crawl. A seed always is, and so is a sitemap that robots.txt or an
// index of sitemaps names: it may be on the host of a CDN. What it lists has to be in scope by itself.
func (s *scope) inScope(name string, r *urlRecord, rules *Rules) (bool, error) {
	in := rules.root(r.URL)
	if in == (root{}) || r.Seed || r.Sitemap || rules.namesHost(r.URL) {
		return true, nil
	}
	return s.isOpen(name, in)
}

// root is the one that decides whether a URL is in scope; the zero value where
// every host is.
func (r *Rules) root(url string) root {
	switch r.Scope {
	case crawlspec.ScopeAny:
		return root{}
	case crawlspec.ScopeDomain:
		return rootsOf(url)[1]
	case crawlspec.ScopeHost:
	}
	return rootsOf(url)[0]
}

// namesHost reports whether the spec itself names the host of a URL.
func (r *Rules) namesHost(url string) bool {
	if len(r.Hosts) == 0 && len(r.Domains) == 0 {
		return false
	}
	name := weburl.Hostname(url)
	return slices.Contains(r.Hosts, name) || slices.ContainsFunc(r.Domains, func(d string) bool {
		return name == d || strings.HasSuffix(name, "."+d)
	})
}

// exclusionReason returns why a URL must not be fetched, "" if it may. Opened says
// that its root is in scope. That it was cancelled comes last: what would not be fetched
// anyway says why.
func (r *Rules) exclusionReason(u *urlRecord, opened bool, now int64) string {
	reason := r.ruleAgainst(u, opened, now)
	if reason == "" && r.isCancelledFor(u.URL) {
		return frontierapi.ReasonCancelled
	}
	return reason
}

// ruleAgainst returns which rule of the spec, or guard, is against a URL, "" if none is.
func (r *Rules) ruleAgainst(u *urlRecord, opened bool, now int64) string {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(u.URL) }
	switch {
	case !opened:
		return frontierapi.ReasonScope
	case len(r.Schemes) > 0 && !slices.Contains(r.Schemes, u.URL[:strings.IndexByte(u.URL, ':')]):
		return frontierapi.ReasonScheme
	case slices.ContainsFunc(r.exclude, matches):
		return frontierapi.ReasonExclude
	case !u.Seed && len(r.include) > 0 && !slices.ContainsFunc(r.include, matches):
		return frontierapi.ReasonInclude
	case r.MaxDepth != nil && u.Depth > *r.MaxDepth:
		return frontierapi.ReasonDepth
	case u.Redirects > 0 && u.Redirects > r.limitsOf(u.URL).MaxRedirects:
		return frontierapi.ReasonRedirects
	case u.Seed:
		return "" // a person asked for it: no guard knows better
	case !u.Sitemap && r.extensions[crawlspec.Extension(u.URL)]: // sitemaps may be compressed files
		return frontierapi.ReasonExtension
	}
	return string(traps.Check(u.URL, &r.traps, time.Unix(0, now)))
}
