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

// scope decides whether a URL is excluded.
type scope struct {
	*base
	crawls *crawls
	urls   *urls
}

// exclusion returns why a URL must not be fetched, "" if it may. Reasons are that its host is
// outside the scope that the seeds open (scope_roots.go), a rule of the spec, a guard against
// traps, or a cancelled crawl.
//
// These guards are elsewhere, because they compare a URL with others or count pages:
//   - The traps that compare a new URL with earlier ones: trapReason (trap_check.go), which admit (visits.go) calls after exclusion. trapAtDispatch, which nextOfCrawl (dispatcher.go) calls before it sends a request, checks again.
//   - max_pages_per_host: admit, and again nextOfCrawl.
//
// A new reason has a name in frontierapi/reasons.go and a line in stands (reviews.go): without
// that, its URLs stay excluded when the spec changes. The keys of the rules are in
// crawlspec/spec.go, rules.go compiles them, and internal/run/crawl/dry_run.go shows them.
//
// When the spec changes, reevaluate (reviews.go) evaluates the known URLs again; it also excludes
// those with a new name (ReasonNormalized). ScopePreview (scope_preview.go) returns the same
// decision for a page that is not crawled.
//
// The fetcher applies include and exclude once more (fetcher/redirect_scope.go), to URLs on a
// circle of redirects that it follows without the frontier. Only the fetcher applies robots.txt
// (fetcher/robots_check.go), refuses addresses that must not be dialled (internal/fetch/netguard)
// and refuses content types; applyOutcome (visits.go) excludes their URLs.
func (s *scope) exclusion(crawl string, r *urlRecord, rules *Rules, wall int64) (reason string, err error) {
	opened, err := s.inScope(crawl, r, rules)
	if err != nil {
		return "", err
	}
	return rules.exclusionReason(r, opened, wall), nil
}

// inScope reports whether a URL is in the scope of its crawl. Seeds always are. So is a sitemap
// named by robots.txt or by a sitemap index, which may be on the host of a CDN. URLs in the sitemap
// must be in scope themselves.
func (s *scope) inScope(name string, r *urlRecord, rules *Rules) (bool, error) {
	in := rules.root(r.URL)
	if in == (root{}) || r.Seed || r.Sitemap || rules.namesHost(r.URL) {
		return true, nil
	}
	return s.isOpen(name, in)
}

// root returns the root that decides whether a URL is in scope, or the zero value if every host is.
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

// exclusionReason returns why a URL must not be fetched, "" if it may. opened says that its root is
// in scope. Cancellation comes last: a URL that is excluded anyway gets the more specific reason.
func (r *Rules) exclusionReason(u *urlRecord, opened bool, now int64) string {
	reason := r.ruleAgainst(u, opened, now)
	if reason == "" && r.isCancelledFor(u.URL) {
		return frontierapi.ReasonCancelled
	}
	return reason
}

// ruleAgainst returns the rule of the spec, or the guard, that excludes a URL, "" if none does.
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
		return "" // guards do not apply to seeds
	case !u.Sitemap && r.extensions[crawlspec.Extension(u.URL)]: // sitemaps may be compressed files
		return frontierapi.ReasonExtension
	}
	return string(traps.Check(u.URL, &r.traps, time.Unix(0, now)))
}
