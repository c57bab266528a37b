package extract

import (
	"slices"
	"strings"
	"testing"
)

// A key that records of several hosts share is reported once per kind, whichever of its rules made
// them.
func TestKeysThatJoinHosts(t *testing.T) {
	t.Parallel()
	one := func(key string) string {
		return `records: [{kind: product, key: "` + key + `", fields: {sku: h1, n: {css: h2}}}]`
	}
	for name, c := range map[string]struct {
		spec   string
		hosts  []string
		joined []string
		keys   string // of all records
	}{
		"field":               {one("{sku}"), []string{"a.test", "b.test", "c.test", "b.test"}, []string{"a.test", "b.test"}, "1 1 1 1"},
		"one host":            {one("{sku}"), []string{"a.test", "a.test"}, nil, "1 1"},
		"www is no other":     {one("{sku}"), []string{"www.a.test", "a.test", "a.test:8080"}, nil, "1 1 1"},
		"host":                {one("{host}/{sku}"), []string{"a.test", "b.test:8080"}, nil, "a.test/1 b.test:8080/1"},
		"url":                 {one("{url}"), []string{"a.test", "b.test"}, nil, "https://a.test/p https://b.test/p"},
		"default":             {one("{n|none}"), []string{"a.test", "b.test"}, []string{"a.test", "b.test"}, "none none"},
		"no key":              {strings.Replace(one(""), `key: "", `, "", 1), []string{"a.test", "b.test"}, nil, " "},
		"a field called host": {`records: [{kind: product, key: "{host}", fields: {host: h1}}]`, []string{"a.test", "b.test"}, []string{"a.test", "b.test"}, "1 1"},
		"a rule for each host": {
			`records: [{kind: product, match: "*a.test/*", key: "{sku}", fields: {sku: h1}}, {kind: product, match: "*b.test/*", key: "{id}", fields: {id: h1}}]`,
			[]string{"a.test", "b.test"}, []string{"a.test", "b.test"}, "1 1",
		},
		"two kinds": {
			`records: [{kind: product, match: "*a.test/*", key: "{sku}", fields: {sku: h1}}, {kind: offer, match: "*b.test/*", key: "{sku}", fields: {sku: h1}}]`,
			[]string{"a.test", "b.test"}, nil, "1 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rules := mustCompile(t, c.spec)
			var keys []string
			var told []Yield
			for _, host := range c.hosts {
				doc := page("text/html", "<h1>1</h1>")
				doc.URL = "https://" + host + "/p"
				got := mustApply(t, rules, doc)
				for _, r := range got.Records {
					keys = append(keys, r.Key)
				}
				told = append(told, got.Told...)
			}
			if got := strings.Join(keys, " "); got != c.keys {
				t.Errorf("keys %q, want %q", got, c.keys)
			}
			if c.joined == nil && len(told) > 0 || c.joined != nil && (len(told) != 1 || !slices.Equal(told[0].Joined, c.joined)) {
				t.Errorf("told %+v, want once of %q", told, c.joined)
			}
			all, pages := rules.Yields()
			troubles := 0
			for i := range all {
				if strings.Contains(all[i].Trouble(pages, false), "has one key for records of a.test and of b.test, which replace each other") {
					troubles++
				}
			}
			if troubles != len(told) {
				t.Errorf("%d troubles in %+v", troubles, all)
			}
		})
	}
}
