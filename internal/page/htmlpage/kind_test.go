package htmlpage

import (
	"reflect"
	"strings"
	"testing"
)

// all asks for every kind of link of a page.
func all(attributes ...string) Options {
	return Options{Kinds: ^NoKinds, Attributes: attributes, LinkTexts: true}
}

func TestKinds(t *testing.T) {
	for k := range Kind(numKinds) {
		if got, ok := ParseKind(k.String()); got != k || !ok {
			t.Errorf("%v: got %v, %t", k, got, ok)
		}
		if set := KindsOf(k); !set.Has(k) || set.Has(k+1) || !(^NoKinds).Has(k) {
			t.Errorf("set of %v: %b", k, set)
		}
		if DefaultKinds.Has(k) != (k <= KindAlternate) {
			t.Errorf("%v in the defaults: %t", k, DefaultKinds.Has(k))
		}
	}
	if _, ok := ParseKind("anchors"); ok || Kind(200).String() != "unknown" {
		t.Error("a kind that is none")
	}
}

func TestWantedKinds(t *testing.T) {
	const page = `<link rel=next href=n><a href=a><form action=f></form><img src=i>`
	tests := []struct {
		kinds Kinds
		want  string
	}{
		{0, "next /docs/n\nanchor /docs/a"},
		{DefaultKinds | KindsOf(KindForm), "next /docs/n\nanchor /docs/a\nform /docs/f"},
		{KindsOf(KindImage, KindAnchor), "anchor /docs/a\nimage /docs/i"},
		{KindsOf(), ""},
		{NoKinds, ""},
	}
	for _, tt := range tests {
		if got := links(scan(t, page, Options{Kinds: tt.kinds})); got != tt.want {
			t.Errorf("%b: got %q, want %q", tt.kinds, got, tt.want)
		}
	}
}

func TestLinkDetails(t *testing.T) {
	tests := []struct{ rule, html, want string }{
		{"anchor", `<a href=a rel="NoOpener  x"> one <b>two</b>
			<p>three&amp;</p></a>four`, "anchor /docs/a [noopener x] one two three&"},
		{"an anchor ends where the next begins", `<a href=a>x<a href=b>y<a>z`, "anchor /docs/a [] x\nanchor /docs/b [] y"},
		{"an anchor left open", `<a href=a>x`, "anchor /docs/a [] x"},
		{"the first text counts", `<a href=a></a><a href=a>x</a><a href="#f">self</a><a href=./a>y</a>`, "anchor /docs/a [] x"},
		{"also in another spelling", `<a href=a></a><a rel=x href=./a>x</a>`, "anchor /docs/a [x] x"},
		{"hidden text is none", `<a href=a><svg><text>x</text></svg><script>y</script></a>`, "anchor /docs/a [] "},
		{"images in an anchor", `<a href=a>x<img alt="a &amp; b">y</a>`, "anchor /docs/a [] x a & b y"},
		{"area", `<area href=a alt=" the  shop ">`, "area /docs/a [] the shop"},
		{"frame", `<iframe src=a title=x></iframe>`, "frame /docs/a [] x"},
		{"link", `<link rel=NEXT href=a title=x>`, "next /docs/a [next] x"},
		{"feeds", `<link rel=alternate type="application/RSS+xml; x" href=a><link rel=alternate type=application/atom+xml href=b><link rel=alternate type=application/feed+json href=c><link rel=feed href=d>`,
			"feed /docs/a [alternate] \nfeed /docs/b [alternate] \nfeed /docs/c [alternate] \nfeed /docs/d [feed] "},
		{"a feed in another language is an alternate", `<link rel=alternate hreflang=de type=application/rss+xml href=a>`, "alternate /docs/a [alternate] "},
		{"other links", `<link rel="stylesheet" href=a><link rel=icon href=b><link rel=license href=c><link rel=alternate type=text/plain href=d><link href=e>`,
			"link /docs/a [stylesheet] \nlink /docs/b [icon] \nlink /docs/c [license] \nlink /docs/d [alternate] \nlink /docs/e [] "},
		{"images", `<img src=a alt=x srcset="b 1x, c 2x"><img src=" "><img srcset=d>`,
			"image /docs/a [] x\nsrcset /docs/b [] x\nsrcset /docs/c [] x\nsrcset /docs/d [] "},
		{"picture", `<picture><source srcset="a 100w, b 200w" media=x><img src=c></picture>`, "srcset /docs/a [] \nsrcset /docs/b [] \nimage /docs/c [] "},
		{"forms", `<form action=a></form><form method=GET action="b?x=1#y"></form><form method=post action=c></form><form method=dialog action=d></form><form method=x action="#?"></form><form></form><form action=" "></form>`,
			"form /docs/a [] \nform /docs/b [] "},
		{"a form of a query only", `<base href=/x?y><form action="?z"></form>`, "form /x [] "},
		{"form rel", `<form action=a rel=nofollow></form>`, "!form /docs/a [nofollow] "},
		{"attributes", `<p data-href=a data-src=" "><a href=b DATA-HREF="c&amp;d">`, "attribute /docs/a [] \nattribute /docs/c&d [] \nanchor /docs/b [] "},
		{"attributes of any element", `<script data-href=a></script><img data-href=b><x-y data-href=c>`, "attribute /docs/a [] \nattribute /docs/b [] \nattribute /docs/c [] "},
		{"not in a template", `<template><img src=a srcset=b><form action=c></form><p data-href=d><source srcset=e><link rel=x href=f></template>`, ""},
		{"a long rel and a long text", `<a rel="` + strings.Repeat("x ", maxRel) + `" href=a>` + strings.Repeat("y", 2*maxLinkText),
			"anchor /docs/a [" + strings.TrimSpace(strings.Repeat("x ", maxRel/2)) + "] " + strings.Repeat("y", maxLinkText)},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if got := details(scan(t, tt.html, all("data-href", "data-src")).Links); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.html, got, tt.want)
			}
		})
	}
}

// A URL that is linked in several ways keeps each kind, and a nofollow mark on one does not apply
// to the others.
func TestLeads(t *testing.T) {
	l := scan(t, `<img src=a><a rel=nofollow href=a><link rel=next href=a>`, all()).Links[0]
	if l.Kind != KindImage || l.NoFollow || l.Kinds|NoKinds != KindsOf(KindImage, KindAnchor, KindNext) {
		t.Errorf("got %+v", l)
	}
	for _, tt := range []struct {
		kinds      Kinds
		obey, want bool
	}{
		{KindsOf(KindAnchor), true, false},
		{KindsOf(KindAnchor), false, true},
		{KindsOf(KindAnchor, KindNext), true, true},
		{KindsOf(KindArea), false, false},
		{DefaultKinds, true, true},
		{NoKinds, false, false},
	} {
		if got := l.ShouldFollow(tt.kinds, tt.obey); got != tt.want {
			t.Errorf("%b, obey %t: got %t", tt.kinds, tt.obey, got)
		}
	}
}

// Section 4.8.4.2.1.
func TestSrcset(t *testing.T) {
	for set, want := range map[string]string{
		"":                             "",
		" , ,":                         "",
		"a":                            "a",
		"a 1x, b 2x":                   "a b",
		"a,b":                          "a,b",
		"a, b":                         "a b",
		"a,, b":                        "a b",
		"a 1x,b 2x":                    "a b",
		"a 1x (x, y) 2h, b":            "a b",
		"a (x, b":                      "a",
		"data:,x 1x, b":                "data:,x b",
		"\n a.png?w=1,h=2 100w ,\tb":   "a.png?w=1,h=2 b",
		", a x) y, b":                  "a b",
		"a 1x,":                        "a",
		"https://example.org/a,b 1x,c": "https://example.org/a,b c",
	} {
		var got []string
		for url, rest := nextCandidate([]byte(set)); len(url) > 0; url, rest = nextCandidate(rest) {
			got = append(got, string(url))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", set, got, want)
		}
	}
}

// FuzzSrcset: candidates are parts of the set in its order, and each advances.
func FuzzSrcset(f *testing.F) {
	f.Add([]byte("a 1x, b 2x,,c (d, e) f,"))
	f.Add([]byte(",(,)"))
	f.Fuzz(func(t *testing.T, set []byte) {
		for rest := set; ; {
			url, next := nextCandidate(rest)
			if len(url) == 0 {
				return
			}
			if len(next)+len(url) > len(rest) || has(url[0], isSpace) || url[0] == ',' || url[len(url)-1] == ',' {
				t.Fatalf("%q: %q, then %q", rest, url, next)
			}
			rest = next
		}
	})
}

func TestHeadings(t *testing.T) {
	tests := []struct {
		rule, html string
		want       []Heading
	}{
		{"levels", "<h1>a</h1><H2> b <i>c</i>\n</H2><h6>d</h6><h7>e</h7>", []Heading{{1, "a", 0}, {2, "b c", 0}, {6, "d", 0}}},
		{"text is decoded", "<h1>a &amp; b&nbsp;</h1>", []Heading{{1, "a & b", 0}}},
		{"blocks in one", "<h1><div>a</div><div>b</div></h1>", []Heading{{1, "a b", 0}}},
		{"a heading ends one left open", "<h1>a<h2>b</h1>c", []Heading{{1, "a", 0}, {2, "b", 0}}},
		{"left open to the end", "<h1>a", []Heading{{1, "a", 0}}},
		{"empty ones", "<h1></h1><h2> <img alt=x></h2>", nil},
		{"with a link", "<h1>a <a href=b>c</a> d</h1>e", []Heading{{1, "a c d", 0}}},
		{"a link over one", "<a href=b>x<h1>a</h1>y</a>", []Heading{{1, "a", 0}}},
		{"hidden ones", "<noscript><h1>a</h1></noscript><template><h1>b</h1></template><script><h1>c</h1></script>", nil},
		{"a long one", "<h1>" + strings.Repeat("x", 2*maxHeading), []Heading{{1, strings.Repeat("x", maxHeading), 0}}},
	}
	for _, tt := range tests {
		p := scan(t, tt.html, Options{Headings: true, LinkTexts: true})
		if !reflect.DeepEqual(p.Headings, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.rule, p.Headings, tt.want)
		}
		if plain := scan(t, tt.html, Options{}); plain.Headings != nil || plain.Text != p.Text {
			t.Errorf("%s: not asked for headings: %v, %q", tt.rule, plain.Headings, plain.Text)
		}
	}
	if n := len(scan(t, strings.Repeat("<h1>x", 2*maxHeadings), Options{Headings: true}).Headings); n != maxHeadings {
		t.Errorf("%d headings", n)
	}
}

// In SVG 1.1 the URL of a link is in xlink:href, which counts if there is no href.
func TestLinksOfSVG(t *testing.T) {
	p := scan(t, `<svg xmlns:xlink="http://www.w3.org/1999/xlink"><a xlink:href="/old"><path/></a><a href="/new" xlink:href="/older"/></svg><a xlink:href=/none>none</a>`, Options{})
	if got, want := links(p), "anchor /old\nanchor /new"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
