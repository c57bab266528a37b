package weburl

import (
	"net/url"
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

// BenchmarkResolveFast measures references as they are on pages.
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

// BenchmarkResolveSlow measures the complete parser on a reference that needs
// it, and on some that do not.
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

// BenchmarkNetURL measures net/url, which does less, beside the fast path.
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

func BenchmarkCanonicalize(b *testing.B) {
	for _, c := range []struct{ name, raw string }{
		{"canonical", benchBase},
		{"mixed", "HTTP://www.Example.org:80/docs/../index.html#top"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink, _ = Canonicalize(c.raw)
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
