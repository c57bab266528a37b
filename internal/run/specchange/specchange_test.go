package specchange

import (
	"strings"
	"testing"

	"seine/internal/run/specfile"
)

// A limit goes only if the new spec says so.
func TestUnmentioned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ have, want, lost string }{
		"nothing set":    {"seeds: [http://a.test/]", "delay: 2s", ""},
		"max_pages":      {"max_pages: 300", "delay: 2s", "max_pages: 300 or 0"},
		"ended":          {"max_pages: 300", "max_pages: 0", ""},
		"changed":        {"max_pages: 300", "max_pages: 400", ""},
		"max_depth 0":    {"max_depth: 0", "delay: 2s", "max_depth: 0 or null"},
		"max_depth null": {"max_depth: 0", "max_depth: null", ""},
		"patterns":       {"include: ['*/a*']\nexclude: ['*/b*']", "delay: 2s", `include: ["*/a*"] or []; exclude: ["*/b*"] or []`},
		"no patterns":    {"include: ['*/a*']", "include: []", ""},
		"sizes":          {"max_bytes: 1GiB\nmax_duration: 1h", "delay: 2s", `max_bytes: "1GiB" or 0; max_duration: "1h0m0s" or 0s`},
		"ended sizes":    {"max_bytes: 1GiB\nmax_duration: 1h", "max_bytes: 0\nmax_duration: 0s", ""},
		"flags":          {"allow_private: true\narchive: true", "delay: 2s", "archive: true or false; allow_private: true or false"},
	} {
		have, err := specfile.Load("have.yaml", []byte(c.have))
		if err != nil {
			t.Fatal(err)
		}
		want, err := specfile.Load("want.yaml", []byte(c.want))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var lost []string
		for _, l := range Unmentioned(have, want, []byte(c.want)) {
			lost = append(lost, l.Key+": "+l.Value+" or "+l.None)
		}
		if got := strings.Join(lost, "; "); got != c.lost {
			t.Errorf("%s: %s, want %s", name, got, c.lost)
		}
	}
}
