package fetcher

import (
	"regexp"
	"slices"

	"seine/pkg/crawlspec"
)

// redirectScope holds the include and exclude patterns of a spec for URLs that the fetcher requests
// without asking the frontier: those on a circle of redirects (mayPass in self_redirect.go). The
// frontier checks all other URLs, in its state/scope.go.
type redirectScope struct{ include, exclude []*regexp.Regexp }

func newRedirectScope(spec *crawlspec.Spec) *redirectScope {
	include, err := crawlspec.CompilePatterns(spec.Include)
	if err != nil {
		panic(err) // the spec is valid
	}
	exclude, err := crawlspec.CompilePatterns(spec.Exclude)
	if err != nil {
		panic(err)
	}
	return &redirectScope{include, exclude}
}

// includes reports whether the patterns allow a URL, like ruleAgainst in the frontier for URLs that
// are not seeds.
func (s *redirectScope) includes(url string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(url) }
	return !slices.ContainsFunc(s.exclude, matches) && (len(s.include) == 0 || slices.ContainsFunc(s.include, matches))
}
