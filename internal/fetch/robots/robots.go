// Package robots parses robots.txt files and decides whether a crawler may fetch a path, by the
// Robots Exclusion Protocol, RFC 9309. It does no I/O. Fetching, redirects, caching and the meaning
// of status codes (RFC 9309 section 2.3) belong to the fetcher (pkg/stages/fetcher: robots.go,
// robots_check.go), which replaces an unavailable file by [AllowAll].
//
// It also parses a page's own instructions to crawlers, the [Directives] of its X-Robots-Tag header
// and its robots meta elements.
//
// A parsed [File] keeps only its rules and sitemaps, never the body, is immutable, and is safe for
// concurrent use.
package robots

import (
	"slices"
	"time"
)

// anyAgent is the product token of the group for crawlers that no other group
// names, RFC 9309 section 2.2.1.
const anyAgent = "*"

// File is a parsed robots.txt.
type File struct {
	// groups is keyed by lower-case product token.
	groups   map[string]*Group
	sitemaps []string
	notes    []string
}

// Group is the set of rules that one crawler obeys. Several groups for the same crawler act as one,
// RFC 9309 section 2.2.1. Agents that a file lists together share sections, so that a hostile file
// of many agents above many rules stays within a few times its size on the wire.
type Group struct {
	sections []*section
}

// section is one group as written in the file: its rules, best match first, and
// the longest of its crawl delays.
type section struct {
	rules    []rule
	delay    time.Duration
	hasDelay bool
}

var (
	allowAll = Parse(nil)
	noRules  = &Group{}
)

// AllowAll returns a file that allows every path, for a robots.txt that is
// unavailable: a 4xx status, RFC 9309 section 2.3.1.3.
func AllowAll() *File { return allowAll }

// Group returns the rules for a crawler: those of the groups naming its product token, else those
// for "*", else none, RFC 9309 section 2.2.1. Complete tokens are compared, ignoring case. Only the
// leading token of product counts, so "Seine/1.0" and "seine" are equivalent. The result is never
// nil.
func (f *File) Group(product string) *Group {
	if g, ok := f.groups[productToken(product)]; ok {
		return g
	}
	if g, ok := f.groups[anyAgent]; ok {
		return g
	}
	return noRules
}

// Sitemaps returns the values of the Sitemap lines in file order, unparsed and without duplicates.
// They belong to no group, RFC 9309 section 2.2.4.
func (f *File) Sitemaps() []string { return slices.Clone(f.sitemaps) }

// Notes returns a description of each line that does not conform to RFC 9309, at most ten: the
// field that the line was read as, or that it was not read.
func (f *File) Notes() []string { return slices.Clone(f.notes) }

// Allowed reports whether the group lets its crawler fetch a path with its
// query, such as "/a/b?c=d", by the rules of RFC 9309 section 2.2.2: the longest
// match decides, Allow wins between equals, and no match allows. The path of
// robots.txt itself is always allowed. A missing leading slash is added and a
// fragment is cut. The cost is linear in the path for each rule.
func (g *Group) Allowed(pathAndQuery string) bool {
	r := g.deciding(pathAndQuery)
	return r == nil || r.allow
}

// Rule returns the line that decides [Group.Allowed], as in
// "Disallow: /private", or "" when no rule matches and the path is allowed.
func (g *Group) Rule(pathAndQuery string) string {
	r := g.deciding(pathAndQuery)
	if r == nil {
		return ""
	}
	return r.String()
}

// CrawlDelay returns the group's delay between fetches, the longest if it has several, and whether
// it has one. Crawl-delay is not part of RFC 9309. The value is at most [MaxCrawlDelay].
func (g *Group) CrawlDelay() (time.Duration, bool) {
	var longest time.Duration
	var found bool
	for _, s := range g.sections {
		longest = max(longest, s.delay)
		found = found || s.hasDelay
	}
	return longest, found
}

// deciding returns the most specific rule that matches, nil if none does.
func (g *Group) deciding(pathAndQuery string) *rule {
	if len(g.sections) == 0 {
		return nil
	}
	path := encodePath(pathAndQuery)
	if path == "/robots.txt" {
		return nil
	}
	best := g.best(nil, path)
	for _, form := range []string{openQuery(path), closeQuery(path)} {
		if form != path {
			best = g.best(best, form)
		}
	}
	return best
}

// best returns the most specific of a rule already found and those matching
// path. Rules are sorted, so the first match of a section is its best.
func (g *Group) best(found *rule, path string) *rule {
	for _, s := range g.sections {
		for i := range s.rules {
			r := &s.rules[i]
			if found != nil && !r.beats(found) {
				break
			}
			if matches(r.pattern, path) {
				found = r
				break
			}
		}
	}
	return found
}
