package weburl

import (
	"net/url"
	"strings"
	"testing"
)

const benchBase = "https://www.example.org/docs/guide/chapter-3/index.html?lang=en"

var benchRefs = []struct{ name, ref string }{
	{"relative", "section-4.html"},
	{"dots", "../images/figure-2.png?size=large#top"},
	{"rooted", "/about/contact/team.html"},
	{"absolute", "https://other.example.com/news/2026/11/an-article-with-a-long-title"},
	{"canonical", "https://www.example.org/"},
	{"fragment", "#top"},
	{"escapes", "caf%c3%a9/%7Euser?q=a%20b"},
	{"utf8", "größe/übersicht.html"},
	{"mailto", "mailto:someone@example.org"},
}

var sink string

// BenchmarkResolveFast measures references as found on pages.
func BenchmarkResolveFast(b *testing.B) {
	base, err := NewBase(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range benchRefs {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink, _ = base.Resolve(c.ref)
			}
		})
	}
}

// BenchmarkResolveSlow measures the complete parser on a reference that needs it, and on some that
// do not.
func BenchmarkResolveSlow(b *testing.B) {
	base, err := NewBase(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, ref string }{
		benchRefs[0],
		benchRefs[3],
		{"backslash", `..\images\figure-2.png`},
		{"idna", "https://bücher.example/"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink, _ = slowResolve(base, c.ref)
			}
		})
	}
}

// BenchmarkNetURL measures net/url, which does less, for comparison with the fast path.
func BenchmarkNetURL(b *testing.B) {
	base, err := url.Parse(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range benchRefs {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ref, err := url.Parse(c.ref); err == nil {
					sink = base.ResolveReference(ref).String()
				}
			}
		})
	}
}

// BenchmarkCanonicalize measures classes of absolute URLs, also with two parsers that do less:
// net/url, which neither follows the URL standard nor normalises, and the complete WHATWG parser,
// whose result is not canonical yet. Each makes a string.
func BenchmarkCanonicalize(b *testing.B) {
	implementations := []struct {
		name string
		run  func(string) (string, error)
	}{
		{"weburl", Canonicalize},
		{"neturl", func(raw string) (string, error) {
			u, err := url.Parse(raw)
			if err != nil {
				return "", err
			}
			return u.String(), nil
		}},
		{"whatwg", func(raw string) (string, error) {
			u, err := parser.Parse(raw)
			if err != nil {
				return "", err
			}
			return u.Href(true), nil
		}},
	}
	for _, c := range []struct{ class, raw string }{
		{"canonical", "https://www.example.org/docs/guide/chapter-3/index.html"},
		{"query", benchBase},
		{"long", "https://www.example.org/" + strings.Repeat("a-segment/", 40) + "?" + strings.Repeat("key=value&", 20) + "z"},
		{"mixed", "HTTP://www.Example.org:80/docs/../index.html#top"},
		{"escapes", "https://www.example.org/caf%c3%a9/%7Euser?q=a%20b"},
		{"utf8", "https://www.example.org/größe/übersicht.html"},
		{"ipv4", "http://192.0.2.1:8080/index.html"},
		{"ipv6", "http://[2001:db8::1]/index.html"},
		{"idna", "https://bücher.example/index.html"},
		{"punycode", "https://xn--bcher-kva.example/index.html"},
		{"backslash", `https://www.example.org\docs\index.html`},
	} {
		for _, impl := range implementations {
			b.Run(c.class+"/"+impl.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					sink, _ = impl.run(c.raw)
				}
			})
		}
	}
}

// BenchmarkNormalize measures the default options of crawls.
func BenchmarkNormalize(b *testing.B) {
	n := NewNormalizer(NormalizeOptions{DropTracking: true, DropSessions: true})
	for _, c := range []struct{ name, url string }{
		{"plain", "https://www.example.org/docs/guide/chapter-3/index.html"},
		{"query", "https://www.example.org/search?q=shoes&page=2&sort=price"},
		{"tracking", "https://www.example.org/news/article?id=12&utm_source=feed&utm_medium=rss"},
		{"session", "https://www.example.org/shop/cart.do;jsessionid=1A2B3C4D5E6F.node1?item=12"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = n.Normalize(c.url)
			}
		})
	}
}

func BenchmarkDomain(b *testing.B) {
	for _, host := range []string{"example.org", "www.example.org", "a.b.example.co.uk", "192.0.2.1"} {
		b.Run(host, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = Domain(host)
			}
		})
	}
}

func BenchmarkNewBase(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		base, err := NewBase(benchBase)
		if err != nil {
			b.Fatal(err)
		}
		sink = base.url
	}
}
