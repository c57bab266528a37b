package output

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func pathOf(t interface{ Fatal(...any) }, u string, foldCase bool) string {
	k, err := ParseKey(MarkdownKey)
	if foldCase {
		k = k.FoldCase()
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Path(keyRecord(fmt.Sprintf(`{"url": %q}`, u)))
	if err != nil {
		t.Fatal(u, err)
	}
	return p
}

func TestPathsOfURLs(t *testing.T) {
	for u, want := range map[string]string{
		"https://a.example/":                                "a.example/index.md",
		"https://a.example/index":                           "a.example/%69ndex.md",
		"https://a.example/index.html":                      "a.example/index.html.md",
		"https://a.example/a":                               "a.example/a.md",
		"https://a.example/a/":                              "a.example/a/index.md",
		"https://a.example/a.md":                            "a.example/a.md.md",
		"https://a.example/a.md/b":                          "a.example/a.m%64/b.md",
		"https://a.example/a?x=1&y=2":                       "a.example/a~x=1%26y=2.md",
		"https://a.example/a%3Fx=1":                         "a.example/a%3Fx=1.md",
		"https://a.example/a/?x":                            "a.example/a/index~x.md",
		"https://a.example/?":                               "a.example/index~.md",
		"https://a.example/a//b":                            "a.example/a/%/b.md",
		"https://a.example/stra%C3%9Fe/%20":                 "a.example/straße/%20.md",
		"https://a.example/a%2Fb":                           "a.example/a%2Fb.md",
		"https://a.example/%2E%2E/_commits/con":             "a.example/%2E%2E/%5Fcommits/%63on.md",
		"https://a.example:8080/A:b*":                       "a.example%3A8080/A%3Ab%2A.md",
		"https://a.example/" + strings.Repeat("long/", 200): "a.example/~",
		"https://a.example/?" + strings.Repeat("q=1&", 90):  "a.example/index~",
	} {
		if got := pathOf(t, u, false); got != want && !(strings.HasSuffix(want, "~") && strings.HasPrefix(got, want) && len(got) < 300) {
			t.Errorf("%s: got %s, want %s", u, got, want)
		}
	}
	if got := pathOf(t, "https://a.example/A/b", true); got != "a.example/%41/b.md" {
		t.Errorf("where names have no case: %s", got)
	}
}

func TestPathsOfURLsNeverMeet(t *testing.T) {
	paths := make(map[string]string) // URLs by lower-case path
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "A", "index", ".md", "/", "//", "?", "~", "%3F", "%25", "%2F", "_", ".", "=1", "con", strings.Repeat("x", 130)})
		u := "https://a.example/" + strings.ReplaceAll(strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), ""), "/.", "/b.")
		p := strings.ToLower(pathOf(t, u, true))
		if before, ok := paths[p]; ok && before != u {
			t.Fatalf("%s and %s have the path %s", before, u, p)
		}
		paths[p] = u
		for at := range p {
			if _, isFile := paths[p[:at]]; isFile && p[at] == '/' {
				t.Fatalf("%s is a file, and a folder of %s", p[:at], p)
			}
		}
	})
}
