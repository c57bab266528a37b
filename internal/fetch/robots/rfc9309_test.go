package robots

import (
	"slices"
	"strings"
	"testing"
)

// fact is a statement of RFC 9309, or a choice that it leaves to the crawler: its section and
// content, and an agent that asks for a path under a file.
type fact struct {
	name, agent, file, path string
	want                    access
}

type access bool

const (
	allowed   access = true
	forbidden access = false
)

func (a access) String() string {
	if a {
		return "allowed"
	}
	return "forbidden"
}

// all opens the group for all crawlers.
const all = "User-agent: *\n"

// rfc9309 has the protocol as data, by section: see the files rfc9309_*_test.go.
var rfc9309 = slices.Concat(lineFacts, groupFacts, ruleFacts, encodingFacts, specialFacts, recordFacts, limitFacts, exampleFacts)

func TestRFC9309(t *testing.T) {
	for _, f := range rfc9309 {
		t.Run(f.name, f.check)
	}
}

func (f fact) check(t *testing.T) {
	g := Parse([]byte(f.file)).Group(f.agent)
	if got := access(g.Allowed(f.path)); got != f.want {
		t.Errorf("%.300q\n%s asks for %.100q: %v, want %v", f.file, f.agent, f.path, got, f.want)
	}
	// The line that people are shown as the reason must agree.
	line := g.Rule(f.path)
	if access(!strings.HasPrefix(line, "Disallow: ")) != f.want {
		t.Errorf("%.300q\n%s asks for %.100q: %v because of %.100q", f.file, f.agent, f.path, f.want, line)
	}
	if _, raw, _ := strings.Cut(line, ": "); !strings.Contains(f.file, raw) {
		t.Errorf("%.300q\nhas no line %.100q", f.file, line)
	}
}

func TestNoFactIsStatedTwice(t *testing.T) {
	names, questions := map[string]bool{}, map[[3]string]string{}
	for _, f := range rfc9309 {
		question := [3]string{f.agent, f.file, f.path}
		if names[f.name] {
			t.Errorf("two facts are named %q", f.name)
		}
		if other := questions[question]; other != "" {
			t.Errorf("%q and %q are the same", f.name, other)
		}
		names[f.name], questions[question] = true, f.name
	}
}

// RFC 9309 section 2.3.1.3: the meaning of a missing file.
func TestUnavailable(t *testing.T) {
	for _, path := range []string{"/", "/x", "/robots.txt"} {
		if !AllowAll().Group("seine").Allowed(path) {
			t.Errorf("unavailable: %s is forbidden", path)
		}
	}
}

func TestGroupIsNeverNil(t *testing.T) {
	for _, f := range []*File{AllowAll(), Parse(nil), {}} {
		for _, product := range []string{"", "*", "seine", "7"} {
			if f.Group(product) == nil {
				t.Errorf("Group(%q) is nil", product)
			}
		}
	}
}
