package crawl

import (
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

func TestRuleThatExcludedEverythingIsNamed(t *testing.T) {
	t.Parallel()
	spec := crawlspec.Default()
	spec.Include, spec.Exclude = []string{"/p/*", "*.html"}, []string{"/q/*"}
	for name, tt := range map[string]struct {
		done     int64
		excluded map[string]int64
		want     string
	}{
		"include":            {1, map[string]int64{"include": 15}, "each of the 15 URLs that were found matches no pattern of include: /p/*  *.html"},
		"exclude":            {1, map[string]int64{"exclude": 1}, "the only URL that was found matches a pattern of exclude: /q/*"},
		"any other":          {1, map[string]int64{"robots": 2}, "each of the 2 URLs that were found is excluded: robots"},
		"a rule that is old": {1, map[string]int64{"include": 15, "exclude": 0}, "each of the 15 URLs that were found matches no pattern of include: /p/*  *.html"},
		"some are fetched":   {2, map[string]int64{"include": 15}, ""},
		"several rules":      {1, map[string]int64{"include": 15, "scope": 1}, ""},
		"nothing was found":  {1, nil, ""},
		"a seed is excluded": {0, map[string]int64{"type": 1}, ""},
	} {
		n := frontierapi.Counters{Done: tt.done, Excluded: tt.excluded}
		if got := excludedAll(&n, 1, &spec); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
