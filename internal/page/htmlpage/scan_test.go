package htmlpage

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"seine/internal/base/weburl"
)

const testURL = "https://example.org/docs/page.html"

// scan scans a page for the tests; its content cannot cause an error.
func scan(t testing.TB, body string, opts Options) Page {
	t.Helper()
	p, err := Scan([]byte(body), testURL, "text/html; charset=utf-8", opts)
	if err != nil {
		t.Fatalf("scan %q: %v", body, err)
	}
	return p
}

func TestText(t *testing.T) {
	tests := []struct{ rule, html, want string }{
		{"whitespace folds to one space", " a \t\n b\r\nc ", "a b c"},
		{"a no-break space is a space", "a\u00a0b&nbsp;&#160; c", "a b c"},
		{"other wide spaces are kept", "a\u3000b", "a\u3000b"},
		{"inline elements join", "un<b>break</b>able <i> x </i>", "unbreakable x"},
		{"blocks stand on lines of their own", "a<p>b<p>c</p>d<div><div>e</div></div>f", "a\nb\nc\nd\ne\nf"},
		{"a line break is a line", "a<br>b<br/>c", "a\nb\nc"},
		{"list items are lines", "<ul><li>a<li>b</ul>", "a\nb"},
		{"table rows are lines, cells apart by a space", "<table><tr><td>a<td>b<tr><th>c</th><th>d</th></table>", "a b\nc d"},
		{"space beside a block vanishes", "a <p> b </p> c", "a\nb\nc"},
		{"references are decoded", "a &lt;b&gt; &amp; &eacute;&#233;&#xE9; &copy x", "a <b> & ééé © x"},
		{"references decode to whitespace, which folds", "a&#32;&#10;&Tab;b", "a b"},
		{"two-character references", "&NotEqualTilde;", "\u2242\u0338"},
		{"a bare ampersand stays", "a & b &c; &", "a & b &c; &"},
		{"a bare less-than sign stays", "1 < 2 <3", "1 < 2 <3"},
		{"NUL is dropped", "a\x00b&#0;", "ab\ufffd"},
		{"comments and doctypes are not text", "<!doctype html>a<!-- b -- > -->c<?pi d?>", "ac"},
		{"title is not text", "<title>t</title>a", "a"},
		{"scripts and styles are not text", "a<script>b<p>'</p>'</script><style>c{}</style>d", "ad"},
		{"a script may hide its end tag", "a<script><!--<script></script>b--></script>c", "ac"},
		{"template, noscript and svg are not text", "a<template>b</template><noscript>c</noscript><svg><text>d</text></svg>e", "ae"},
		{"nested templates", "<template><template>a</template>b</template>c", "c"},
		{"form values and fallbacks are not text", "a<textarea>b</textarea><iframe>c</iframe><noembed>d</noembed>e", "ae"},
		{"a closed svg hides nothing", "<svg/>a", "a"},
		{"a block ends an svg left open", "<svg><path><p>a", "a"},
		{"so do a span and an image", "<a><svg><path d='x'></a><span>a</span><svg><g><img src=x>b", "ab"},
		{"but not an element of its own", "<svg><g><text>x</text><a>y</a></g></svg>b", "b"},
		{"math is text", "<math><mi>x</mi><mo>=</mo></math>b", "x=b"},
		{"a style in math that closes itself swallows nothing", "<math><style/><mi>x<p>b", "x\nb"},
		{"CDATA in math is text", "<math><mi><![CDATA[<p>]]></mi></math>b", "<p>b"},
		{"but not behind math that a block ends", "<math><mi>x<p>a<![CDATA[b]]>c", "x\nac"},
		{"but not inside foreignObject", "<svg><foreignObject><p>a</p></foreignObject></svg>b", "b"},
		{"CDATA in svg is not markup", "<svg><![CDATA[ </svg> a ]]></svg>b", "b"},
		{"an svg title does not swallow the page", "<svg><title>a<path></svg>b", "b"},
		{"xmp and plaintext show their markup", "<xmp>a&amp;<b></xmp>c<plaintext><d></plaintext>", "a&amp;<b>\nc\n<d></plaintext>"},
		{"a tag the page ends in is dropped", "a<p class='b", "a"},
		{"stray end tags are harmless", "</svg></template></noscript></foreignObject>a", "a"},
		{"a greater-than sign in a value does not end the tag", `<p title="a>b">c`, "c"},
		{"unknown elements are inline", "a<x-y>b</x-y>" + "<" + strings.Repeat("z", 500) + ">c", "abc"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if got := scan(t, tt.html, Options{}).Text; got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.html, got, tt.want)
			}
		})
	}
}

func TestTextLimit(t *testing.T) {
	tests := []struct {
		html string
		max  int
		want string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdef", 4, "abcd"},
		{"ab<p>cd<p>ef", 4, "ab\nc"},
		{"ab<p>cd", 3, "ab"},
		{"ab cd", 3, "ab"},
		{"aé", 2, "a"},
		{"a é", 3, "a"},
		{"é", 1, ""},
		{"a&eacute;b", 2, "a"},
	}
	for _, tt := range tests {
		if got := scan(t, tt.html, Options{MaxText: tt.max}).Text; got != tt.want {
			t.Errorf("%q at %d bytes: got %q, want %q", tt.html, tt.max, got, tt.want)
		}
	}
}

func TestFields(t *testing.T) {
	tests := []struct {
		rule, html string
		want       Page
	}{
		{"title folds and decodes", "<TITLE>\n a  &amp; <b>b </TITLE>", Page{Title: "a & <b>b"}},
		{"the first title counts", "<title>a</title><title>b</title>", Page{Title: "a"}},
		{"even an empty one", "<title></title><title>b</title>", Page{}},
		{"not one in svg or template", "<svg><title>a</title></svg><template><title>b</title></template><title>c</title>", Page{Title: "c"}},
		{"description folds and decodes", `<meta content="a &amp;
			b" name=Description>`, Page{Description: "a & b"}},
		{"the first description with content", `<meta name=description content=" "><meta name=description content=b><meta name=description content=c>`, Page{Description: "b"}},
		{"html lang", `<html lang=" de-CH ">`, Page{Language: "de-CH"}},
		{"html lang before xml:lang", `<html xml:lang=fr lang=de>`, Page{Language: "de"}},
		{"xml:lang", `<html xml:lang=fr>`, Page{Language: "fr"}},
		{"meta content-language", `<meta http-equiv=Content-Language content=" it ">`, Page{Language: "it"}},
		{"but not a list", `<meta http-equiv=content-language content="it, fr">`, Page{}},
		{"html lang before meta", `<meta http-equiv=content-language content=it><html lang=en>`, Page{Language: "en"}},
		{"a language is not a novel", `<html lang="` + strings.Repeat("x", 100) + `">`, Page{}},
		{"robots", `<meta name=ROBOTS content="NoIndex,NOFOLLOW">`, Page{NoIndex: true, NoFollow: true}},
		{"robots none", `<meta name=robots content=" max-snippet:20 , none">`, Page{NoIndex: true, NoFollow: true}},
		{"robots add up", `<meta name=robots content=noindex><meta name=robots content="all,nofollow">`, Page{NoIndex: true, NoFollow: true}},
		{"robots all", `<meta name=robots content="index,follow,noindexed">`, Page{}},
		{"robots with a value that reads like a directive", `<meta name=robots content="max-image-preview: none">`, Page{}},
		{"robots unavailable since", `<meta name=robots content="unavailable_after: 25 Jun 2010 15:00:00 PST">`, Page{NoIndex: true}},
		{"robots available still", `<meta name=robots content="unavailable_after: 2038-01-01">`, Page{}},
		{"robots names no crawlers", `<meta name=robots content="otherbot: noindex">`, Page{NoIndex: true}},
		{"agent", `<meta name=seineBot content=noindex>`, Page{NoIndex: true}},
		{"other agent", `<meta name=otherbot content=noindex>`, Page{}},
		{"robots in a comment or template", `<!--<meta name=robots content=none>--><template><meta name=robots content=none></template>`, Page{}},
		{"robots in noscript", `<noscript><meta name=robots content=noindex></noscript>`, Page{NoIndex: true}},
		{"canonical of the page itself is no link", `<link rel=canonical href=page.html>`, Page{Canonical: testURL}},
		{"canonical skips what is no URL", `<link rel=canonical href="mailto:x"><link rel=canonical href="page.html">`, Page{Canonical: testURL}},
		{"canonical without href", `<link rel=canonical><link rel=canonical href="">`, Page{}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := scan(t, tt.html, Options{Agent: "SeineBot", Now: time.Unix(1_800_000_000, 0)})
			got.Content = 0 // see TestContent
			tt.want.Charset = "utf-8"
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s\n got %+v\nwant %+v", tt.html, got, tt.want)
			}
		})
	}
}

// links writes links as "kind url", with "!" before nofollow links.
func links(p Page) string {
	var lines []string
	for _, l := range p.Links {
		mark := ""
		if l.NoFollow {
			mark = "!"
		}
		lines = append(lines, mark+l.Kind.String()+" "+strings.TrimPrefix(l.URL, "https://example.org"))
	}
	return strings.Join(lines, "\n")
}

func TestLinks(t *testing.T) {
	tests := []struct{ rule, html, want string }{
		{"anchors and areas", `<a href=a>x</a><AREA HREF="/b">`, "anchor /docs/a\narea /b"},
		{"frames", `<frame src=a><iframe src=b></iframe><iframe src=" "></iframe><iframe>`, "frame /docs/a\nframe /docs/b"},
		{"not images, scripts, stylesheets", `<img src=a><script src=b></script><link rel=stylesheet href=c><link rel=icon href=d>`, ""},
		{"rel next, prev, canonical", `<link rel=next href=a><link rel=PREV href=b><link rel=previous href=c><link rel="x canonical" href=d>`, "next /docs/a\nprev /docs/b\nprev /docs/c\ncanonical /docs/d"},
		{"alternates in other languages only", `<link rel=alternate hreflang=de href=de><link rel=alternate type=application/rss+xml href=feed><link rel="alternate stylesheet" hreflang=de href=css>`, "alternate /docs/de"},
		{"each URL once", `<a href=a></a><a href=/docs/a></a><a href="./a#x"></a><area href=a>`, "anchor /docs/a"},
		{"without fragments", `<a href="a#x">`, "anchor /docs/a"},
		{"not the page itself", `<a href="">x</a><a href="#top">x</a><a href="page.html">x</a><a>x</a>`, ""},
		{"a query makes another page", `<a href="?x">`, "anchor /docs/page.html?x"},
		{"not what is not http", `<a href="mailto:a@b"><a href="javascript:x()"><a href="data:,x"><a href="http://"><a href="ftp://x/">`, ""},
		{"surrounding whitespace", "<a href='\n /a\t'>", "anchor /a"},
		{"newlines within", "<a href='/a\n/b'>", "anchor /a/b"},
		{"references", `<a href="?a=1&amp;b=2&copy=3&lang;">`, "anchor /docs/page.html?a=1&b=2&copy=3%E2%9F%A8"},
		{"nofollow, ugc, sponsored", `<a rel="x NoFollow" href=a><a rel=ugc href=b><a rel=sponsored href=c><a rel=nofollows href=d>`, "!anchor /docs/a\n!anchor /docs/b\n!anchor /docs/c\nanchor /docs/d"},
		{"one link to follow is enough", `<a rel=nofollow href=a><a href=a><a rel=nofollow href=a>`, "anchor /docs/a"},
		{"also in another spelling", `<a rel=nofollow href=a><a href=/docs/a>`, "anchor /docs/a"},
		{"the first of two attributes", `<a href=a href=b>`, "anchor /docs/a"},
		{"noscript is markup", `<noscript><a href=a></a></noscript>`, "anchor /docs/a"},
		{"noframes is markup", `<noframes><a href=a></a></noframes>`, "anchor /docs/a"},
		{"svg links count", `<svg><a href=a /></svg>`, "anchor /docs/a"},
		{"template content is not there", `<template><a href=a><iframe src=b></iframe><link rel=next href=c></template>`, ""},
		{"nor are comments, scripts, text fields", `<!--<a href=a>--><script>"<a href=b>"</script><textarea><a href=c></textarea><title><a href=d></title>`, ""},
		{"base", `<base href="/x/"><a href=a>`, "anchor /x/a"},
		{"base applies to what stands before it", `<a href=a><base href="/x/">`, "anchor /x/a"},
		{"the first base counts", `<base target=_top><base href="/x/"><base href="/y/"><a href=a>`, "anchor /x/a"},
		{"base elsewhere", `<base href="https://other.example/x/"><a href=a><a href="#f">`, "anchor https://other.example/x/a\nanchor https://other.example/x/"},
		{"an unusable base is none", `<base href="data:x"><a href=a>`, "anchor /docs/a"},
		{"a base in a template is none", `<template><base href="/x/"></template><a href=a>`, "anchor /docs/a"},
		{"canonical by base", `<link rel=canonical href=a><base href=/x/>`, "canonical /x/a"},
		{"refresh", `<meta http-equiv=Refresh content="0; URL='/a'">`, "refresh /a"},
		{"the first refresh counts", `<meta http-equiv=refresh content=x><meta http-equiv=refresh content="1;/a"><meta http-equiv=refresh content="1;/b">`, "refresh /a"},
		{"a reload is no link", `<meta http-equiv=refresh content=5>`, ""},
		{"even where the base is elsewhere", `<base href=/x/><meta http-equiv=refresh content=5>`, ""},
		{"a link too long", `<a href="/` + strings.Repeat("a", weburl.MaxLength) + `"><a href=b>`, "anchor /docs/b"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if got := links(scan(t, tt.html, Options{})); got != tt.want {
				t.Errorf("%s\n got %q\nwant %q", tt.html, got, tt.want)
			}
		})
	}
}

func TestLinkLimit(t *testing.T) {
	p := scan(t, `<a href=a><a href=b><a rel=nofollow href=c><a href=d><a href=a>`, Options{MaxLinks: 3})
	if got, want := links(p), "anchor /docs/a\nanchor /docs/b\n!anchor /docs/c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestXHTML(t *testing.T) {
	const in = `<title/><p>a<![CDATA[<b> &amp;]]><script src="x"/><template/><textarea/><a href="b"/>c</p>`
	p, err := Scan([]byte(in), testURL, "application/xhtml+xml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "a<b> &amp;c"; p.Text != want || len(p.Links) != 1 {
		t.Errorf("got %q and %d links, want %q and 1", p.Text, len(p.Links), want)
	}
}

func TestPageURLMustBeABase(t *testing.T) {
	for _, u := range []string{"", "/x", "mailto:a@b"} {
		if _, err := Scan(nil, u, "", Options{}); err == nil {
			t.Errorf("%q: no error", u)
		}
	}
	if _, err := Scan(nil, "mailto:a@b", "", Options{}); !errors.Is(err, weburl.ErrScheme) {
		t.Errorf("got %v, want %v", err, weburl.ErrScheme)
	}
}

func TestScanKeepsNothingOfTheLastPage(t *testing.T) {
	scan(t, `<html lang=de><svg><template><noscript><base href=/x/><title>t</title><meta name=robots content=none><link rel=canonical href=a>x`, Options{})
	want := Page{Text: "a", Charset: "utf-8", Links: []Link{{URL: "https://example.org/docs/b", Kinds: 1 << KindAnchor, Unmarked: 1 << KindAnchor}}}
	want.Content = content(t, "https://example.org/", "a")
	for range 3 {
		if got := scan(t, "a<a href=b>", Options{}); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestScanLeavesBodyAlone(t *testing.T) {
	const in = "\xef\xbb\xbf<A HREF='A&amp;B'>&lt;x\x00</A>"
	body := []byte(in)
	if _, err := Scan(body, testURL, "", Options{}); err != nil || string(body) != in {
		t.Errorf("got %q, %v", body, err)
	}
}
