package htmlpage

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"seine/internal/base/weburl"
)

// details writes links as "kind url rel=… text", with all that Scan returns.
func details(ls []Link) string {
	var lines []string
	for _, l := range ls {
		mark := ""
		if l.NoFollow {
			mark = "!"
		}
		lines = append(lines, fmt.Sprintf("%s%s %s [%s] %s", mark, l.Kind, strings.TrimPrefix(l.URL, "https://example.org"), l.Rel, l.Text))
	}
	return strings.Join(lines, "\n")
}

// RFC 8288; the section or appendix in each case.
func TestHeaderLinks(t *testing.T) {
	tests := []struct{ rule, values, want string }{ // values by line
		{"3 a link", `</a>; rel="next"`, "header /a [next] "},
		{"3 relative to the page", `<a?b#c>`, "header /docs/a?b [] "},
		{"3 several in one value", `<a>; rel=next, <b>;rel="prev"`, "header /docs/a [next] \nheader /docs/b [prev] "},
		{"3 several values", "<a>\n<b>", "header /docs/a [] \nheader /docs/b [] "},
		{"3 a comma in the target", `<a,b>, <c>`, "header /docs/a,b [] \nheader /docs/c [] "},
		{"3 a comma and a semicolon in quotes", `<a>; title="x, <b>; rel=next"; rel=prev`, `header /docs/a [prev] x, <b>; rel=next`},
		{"3.2 links of something else", `<a>; anchor="https://other.example/", <b>; anchor="#part"`, "header /docs/b [] "},
		{"3.3 the first rel counts", `<a>; rel=next; rel=prev`, "header /docs/a [next] "},
		{"3.3 several relations", `<a>; rel="Next  CHAPTER"`, "header /docs/a [next chapter] "},
		{"3.4.1 a title", `<a>; title=" the \"first\" "`, `header /docs/a [] the "first"`},
		{"B.2 nothing in front", ` , ,<a>`, "header /docs/a [] "},
		{"B.2 stops at what is no link", `<a>, b, <c>`, "header /docs/a [] "},
		{"B.2 stops at an open target", `<a>, <b`, "header /docs/a [] "},
		{"B.2 stops behind what is no parameter", `<a> x, <b>`, "header /docs/a [] "},
		{"B.3 space around", "<a>\t; rel \t= \t next , <b>", "header /docs/a [next] \nheader /docs/b [] "},
		{"B.3 a parameter without value", `<a>; crossorigin; rel=next`, "header /docs/a [next] "},
		{"B.3 an empty one", `<a>;; rel=next`, "header /docs/a [next] "},
		{"B.3 names in any case", `<a>; REL=next`, "header /docs/a [next] "},
		{"B.4 an open quote", `<a>; rel="next; <b>`, "header /docs/a [next; <b>] "},
		{"HTML 4.6.7 no resources", `<a.css>; rel=preload, <b>; rel="alternate stylesheet", <c>; rel="shortcut icon"`, ""},
		{"nofollow", `<a>; rel="next nofollow"`, "!header /docs/a [next nofollow] "},
		{"each once, not the page", `<a>; rel=next, <./a>; rel=prev; title=t, <page.html>; rel=canonical, <>`, "header /docs/a [next] t"},
		{"not what is not http", `<mailto:a@b>`, ""},
		{"bytes that are not UTF-8", "<a>; title=\xff", "header /docs/a [] \ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := details(HeaderLinks(strings.Split(tt.values, "\n"), testURL))
			if got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.values, got, tt.want)
			}
		})
	}
}

func FuzzHeaderLinks(f *testing.F) {
	for _, s := range []string{`<a>; rel="next", <b>; title="\"x`, "<a>;;=,<", "<é>;a=\xff;anchor=#", strings.Repeat("<a>;a", 9)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		seen := map[string]bool{testURL: true}
		for _, l := range HeaderLinks([]string{value}, testURL) {
			if u, err := weburl.Canonicalize(l.URL); err != nil || u != l.URL || seen[u] {
				t.Errorf("%q: %q again or not canonical: %v", value, l.URL, err)
			}
			seen[l.URL] = true
			if !utf8.ValidString(l.Text) || !utf8.ValidString(l.Rel) || len(l.Text) > maxLinkText || len(l.Rel) > maxRel {
				t.Errorf("%q: %q %q", value, l.Text, l.Rel)
			}
		}
	})
}

func TestRefreshLinks(t *testing.T) {
	for values, want := range map[string]string{ // values by line
		"0; url=/a":                              "refresh /a [] ",
		"5;URL='b?c#d' x":                        "refresh /docs/b?c [] ",
		"0,c":                                    "refresh /docs/c [] ",
		"1.5":                                    "",
		"soon; url=/a":                           "",
		"":                                       "",
		"9\nnever; url=/x\n0; url=/b\n0; url=/c": "refresh /b [] ",
		"0; url=page.html":                       "",
		"0; url=javascript:x":                    "",
		"0; url=/caf\xe9":                        "refresh /caf%E9 [] ",
	} {
		if got := details(RefreshLinks(strings.Split(values, "\n"), testURL)); got != want {
			t.Errorf("%q leads to %q, want %q", values, got, want)
		}
	}
	if got := details(HeaderLinks([]string{"</caf\xe9>"}, testURL)); got != "header /caf%E9 [] " {
		t.Errorf("a Link header leads to %q", got)
	}
}

func TestHeaderCanonical(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string
	}{
		{[]string{`<https://x.example/a>; rel="canonical"`}, "https://x.example/a"},
		{[]string{`</a?b=1#c>; rel=canonical`}, "https://site.example/a?b=1"},
		{[]string{`<b.html>;rel=canonical`}, "https://site.example/dir/b.html"},
		{[]string{`<https://x.example/next>; rel="next", <https://x.example/a>; rel="Canonical"`}, "https://x.example/a"},
		{[]string{`<https://x.example/s>; title="a, <b>; rel=canonical"; rel=shortlink, <https://x.example/a,b>; title="c, d"; rel="canonical"`}, "https://x.example/a,b"},
		{[]string{`<https://x.example/a>; rel="shortlink CANONICAL self"`}, "https://x.example/a"},
		{[]string{`<https://x.example/n>; rel=next`, `<https://x.example/a>; rel=canonical`}, "https://x.example/a"},
		{[]string{`<https://x.example/a>; rel=canonical, <https://x.example/b>; rel=canonical`}, "https://x.example/a"},
		{[]string{`<https://x.example/a>; rel=canonical; anchor="https://other.example/"`}, ""},
		{[]string{`<https://x.example/a>; rel=next; rel=canonical`}, ""},
		{[]string{`<mailto:a@x.example>; rel=canonical`, `https://x.example/a; rel=canonical`, `<>; rel=next`, ``}, ""},
		{nil, ""},
	} {
		if got := HeaderCanonical(c.values, "https://site.example/dir/page"); got != c.want {
			t.Errorf("%q: %q, want %q", c.values, got, c.want)
		}
	}
}
