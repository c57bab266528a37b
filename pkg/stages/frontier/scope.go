package frontier

import (
	"regexp"
	"slices"

	"seine/internal/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Reasons why a URL is excluded.
const (
	ReasonScope     = "scope"     // its host is not one of the crawl's
	ReasonInclude   = "include"   // it matches no include pattern
	ReasonExclude   = "exclude"   // it matches an exclude pattern
	ReasonDepth     = "depth"     // too many links from a seed
	ReasonRedirects = "redirects" // too many redirects in a row
	ReasonRobots    = "robots"    // robots.txt does not allow it
	ReasonAddress   = "address"   // its address must not be dialled
)

// rules decide what of a crawl is fetched, compiled from its spec.
type rules struct {
	stages.Revised
	include, exclude []*regexp.Regexp
}

func compile(spec stages.Revised) (*rules, error) {
	r := &rules{Revised: spec}
	for _, side := range []struct {
		from []string
		to   *[]*regexp.Regexp
	}{{spec.Include, &r.include}, {spec.Exclude, &r.exclude}} {
		for _, p := range side.from {
			re, err := messages.CompilePattern(p)
			if err != nil {
				return nil, err
			}
			*side.to = append(*side.to, re)
		}
	}
	return r, nil
}

// root is the part of a URL that scope is about: its host, or its registrable
// domain; "" where every host is in scope.
func (r *rules) root(url string) string {
	switch r.Scope {
	case messages.ScopeAny:
		return ""
	case messages.ScopeDomain:
		return weburl.Domain(weburl.Hostname(url))
	case messages.ScopeHost:
	}
	return weburl.Host(url)
}

// excludes returns why a URL must not be fetched, "" if it may. Opened says
// that seeds opened its root.
func (r *rules) excludes(u *record, seed, opened bool) string {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(u.URL) }
	switch {
	case !opened:
		return ReasonScope
	case slices.ContainsFunc(r.exclude, matches):
		return ReasonExclude
	case !seed && len(r.include) > 0 && !slices.ContainsFunc(r.include, matches):
		return ReasonInclude
	case r.MaxDepth != nil && u.Depth > *r.MaxDepth:
		return ReasonDepth
	case u.Redirects > r.MaxRedirects:
		return ReasonRedirects
	}
	return ""
}
