package robots

import (
	"fmt"
	"strings"
	"testing"
)

// typical is a file of 60 agents and 120 rules, as a large site serves.
func typical() []byte {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "User-agent: bot%s\n", strings.Repeat("x", i))
	}
	b.WriteString("Disallow: /\n\nUser-agent: *\n")
	for i := range 100 {
		fmt.Fprintf(&b, "Disallow: /section-%d/private/\n", i)
	}
	for i := range 20 {
		fmt.Fprintf(&b, "Disallow: /*?*param%d=\n", i)
	}
	b.WriteString("Sitemap: https://example.org/sitemap.xml\n")
	return []byte(b.String())
}

// hostile fills the size limit with short rules that each scan the whole path.
func hostile() []byte {
	b := []byte("User-agent: *\n")
	for i := 0; len(b) < MaxBytes; i++ {
		b = fmt.Appendf(b, "Allow:*a*a*%x\n", i)
	}
	return b
}

func BenchmarkParse(b *testing.B) {
	for name, body := range map[string][]byte{"typical": typical(), "hostile": hostile()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				Parse(body)
			}
		})
	}
}

func BenchmarkAllowed(b *testing.B) {
	long := "/" + strings.Repeat("a", 2000)
	for _, bm := range []struct {
		name, path string
		body       []byte
	}{
		{"typical", "/section-200/article?id=7", typical()},
		{"typical-encoded", "/caf%c3%a9/%7Ejoe?u=http%3A%2F%2Fexample.org", typical()},
		{"backtracking", long, []byte("User-agent: *\nDisallow: " + strings.Repeat("*a", 500) + "*b")},
		{"hostile", long, hostile()},
	} {
		b.Run(bm.name, func(b *testing.B) {
			g := Parse(bm.body).Group("seine")
			b.ReportAllocs()
			for b.Loop() {
				g.Allowed(bm.path)
			}
		})
	}
}
