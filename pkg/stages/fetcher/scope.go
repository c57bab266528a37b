package fetcher

import (
	"regexp"
	"slices"

	"seine/pkg/crawlspec"
)

// scope is what the patterns of a spec say of which URLs may be fetched.
type scope struct{ include, exclude []*regexp.Regexp }

func newScope(spec *crawlspec.Spec) *scope {
	return &scope{include: patterns(spec.Include), exclude: patterns(spec.Exclude)}
}

func patterns(texts []string) []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, text := range texts {
		re, err := crawlspec.CompilePattern(text)
		if err != nil {
			panic(err) // the spec is valid
		}
		all = append(all, re)
	}
	return all
}

// includes reports whether the patterns let a URL be fetched.
func (s *scope) includes(url string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(url) }
	return !slices.ContainsFunc(s.exclude, matches) && (len(s.include) == 0 || slices.ContainsFunc(s.include, matches))
}
