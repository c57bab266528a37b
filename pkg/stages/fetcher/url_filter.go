package fetcher

import (
	"regexp"
	"slices"

	"seine/pkg/crawlspec"
)

// scope is what the patterns of a spec say of which URLs may be fetched.
type scope struct{ include, exclude []*regexp.Regexp }

func newScope(spec *crawlspec.Spec) *scope {
	include, err := crawlspec.CompilePatterns(spec.Include)
	if err != nil {
		panic(err) // the spec is valid
	}
	exclude, err := crawlspec.CompilePatterns(spec.Exclude)
	if err != nil {
		panic(err)
	}
	return &scope{include, exclude}
}

// includes reports whether the patterns let a URL be fetched.
func (s *scope) includes(url string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(url) }
	return !slices.ContainsFunc(s.exclude, matches) && (len(s.include) == 0 || slices.ContainsFunc(s.include, matches))
}
