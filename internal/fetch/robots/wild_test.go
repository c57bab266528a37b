package robots

import (
	"fmt"
	"strings"
	"testing"
)

// verdict is a path and the line that must decide it, "" if none does.
type verdict struct{ path, line string }

func wantVerdicts(t *testing.T, g *Group, verdicts ...verdict) {
	t.Helper()
	for _, v := range verdicts {
		if got := g.Rule(v.path); got != v.line {
			t.Errorf("Rule(%q) = %q, want %q", v.path, got, v.line)
		}
		if got, want := g.Allowed(v.path), !strings.HasPrefix(v.line, "Disallow"); got != want {
			t.Errorf("Allowed(%q) = %v, want %v", v.path, got, want)
		}
	}
}

// TestWild parses the kinds of files that servers really send.
func TestWild(t *testing.T) {
	tests := []struct {
		name, text string
		verdicts   []verdict
	}{
		{"blog engine",
			"User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\nSitemap: https://example.org/sitemap.xml\n",
			[]verdict{
				{"/wp-admin/", "Disallow: /wp-admin/"},
				{"/wp-admin/admin-ajax.php?action=x", "Allow: /wp-admin/admin-ajax.php"},
				{"/2024/05/post/", ""},
			}},
		{"shop with facets",
			"User-agent: *\nDisallow: /*?*sort=\nDisallow: /*&page=\nDisallow: /checkout\nAllow: /*?page=1$\n",
			[]verdict{
				{"/c/shoes?sort=price", "Disallow: /*?*sort="},
				{"/c/shoes?size=4&sort=price", "Disallow: /*?*sort="},
				{"/c/shoes?a=1&page=2", "Disallow: /*&page="},
				{"/c/shoes?page=1", "Allow: /*?page=1$"},
				{"/checkout/step1", "Disallow: /checkout"},
				{"/c/shoes", ""},
			}},
		{"editor's spacing", "  USER-AGENT\t:\t*  \n\n# keep out\n\n\tdIsAlLoW  :   /a  \t# why not\n\n\nDisallow: /b\n",
			[]verdict{{"/a", "Disallow: /a"}, {"/b", "Disallow: /b"}}},
		{"many records of others", "User-agent: *\nCrawl-delay: soon\nClean-param: ref /a\nNoindex: /c\nContent-Signal: ai-train=no\nDisallow: /b\n",
			[]verdict{{"/c", ""}, {"/b", "Disallow: /b"}}},
		{"web page instead of a file", "<!DOCTYPE html>\n<html><head><style>a{color:red}</style>\n<a href=\"https://x/\">Disallow</a>",
			[]verdict{{"/", ""}}},
		{"binary", "\x00\x01\xff\xfe:\x00\nUser-agent:\x00*\n", []verdict{{"/", ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantVerdicts(t, Parse([]byte(tt.text)).Group("seine"), tt.verdicts...)
		})
	}
}

func TestBlockedAgentsThenEveryone(t *testing.T) {
	f := Parse([]byte("User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\nAllow: /\nDisallow: /cgi-bin/\n"))
	wantVerdicts(t, f.Group("CCBot"), verdict{"/x", "Disallow: /"})
	wantVerdicts(t, f.Group("seine"), verdict{"/x", "Allow: /"}, verdict{"/cgi-bin/", "Disallow: /cgi-bin/"})
}

// TestManyAgentsShareTheirRules keeps a hostile file from multiplying agents by
// rules in memory.
func TestManyAgentsShareTheirRules(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "User-agent: a%s\n", strings.Repeat("b", i))
	}
	b.WriteString("User-agent: a\nDisallow: /x\n")
	f := Parse([]byte(b.String()))
	if f.Group("a").sections[0] != f.Group("abb").sections[0] || len(f.Group("a").sections) != 1 {
		t.Error("agents of one group do not share its section")
	}
}
