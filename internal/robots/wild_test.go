package robots

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestWild reads files of the kinds that servers really send.
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
		{"byte order mark and CRLF", "\xef\xbb\xbfUser-agent: *\r\nDisallow: /a\r\n\r\nDisallow: /b\r\n",
			[]verdict{{"/a", "Disallow: /a"}, {"/b", "Disallow: /b"}}},
		{"lone CR", "User-agent: *\rDisallow: /a\rDisallow: /b",
			[]verdict{{"/a", "Disallow: /a"}, {"/b", "Disallow: /b"}}},
		{"spacing and case", "  USER-AGENT\t:\t*  \n\tdIsAlLoW  :   /a  \t# why not\n",
			[]verdict{{"/a", "Disallow: /a"}}},
		{"blank lines and comments inside a group", "User-agent: *\n\n# keep out\n\nDisallow: /a\n\n\nDisallow: /b\n",
			[]verdict{{"/a", "Disallow: /a"}, {"/b", "Disallow: /b"}}},
		{"rules before any agent", "Disallow: /a\nCrawl-delay: 9\nUser-agent: *\nDisallow: /b\n",
			[]verdict{{"/a", ""}, {"/b", "Disallow: /b"}}},
		{"lines without colon", "User-agent: *\nDisallow /a\nnonsense\nDisallow: /b\n",
			[]verdict{{"/a", ""}, {"/b", "Disallow: /b"}}},
		{"bad crawl-delay", "User-agent: *\nCrawl-delay: soon\nDisallow: /b\n",
			[]verdict{{"/b", "Disallow: /b"}}},
		{"unknown records", "User-agent: *\nClean-param: ref /a\nNoindex: /c\nContent-Signal: ai-train=no\nDisallow: /b\n",
			[]verdict{{"/c", ""}, {"/b", "Disallow: /b"}}},
		{"nameless agent takes its rules along", "User-agent: *\nDisallow: /a\nUser-agent:\nDisallow: /b\n",
			[]verdict{{"/a", "Disallow: /a"}, {"/b", ""}}},
		{"web page instead of a file", "<!DOCTYPE html>\n<html><head><style>a{color:red}</style>\n<a href=\"https://x/\">Disallow</a>",
			[]verdict{{"/", ""}}},
		{"binary", "\x00\x01\xff\xfe:\x00\nUser-agent:\x00*\n", []verdict{{"/", ""}}},
		{"empty", "", []verdict{{"/", ""}}},
		{"no final newline", "User-agent: *\nDisallow: /a", []verdict{{"/a", "Disallow: /a"}}},
		{"path without slash, fragment", "User-agent: *\nDisallow: /a$",
			[]verdict{{"a", "Disallow: /a$"}, {"/a#top", "Disallow: /a$"}}},
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

func TestCrawlDelay(t *testing.T) {
	tests := []struct {
		value string
		want  time.Duration
		found bool
	}{
		{"10", 10 * time.Second, true},
		{"0.5", 500 * time.Millisecond, true},
		{".5", 500 * time.Millisecond, true},
		{"0", 0, true},
		{"3 # seconds", 3 * time.Second, true},
		{"86400", MaxCrawlDelay, true},
		{"86401", MaxCrawlDelay, true},
		{strings.Repeat("9", 400), MaxCrawlDelay, true},
		{"-1", 0, false},
		{"NaN", 0, false},
		{"Inf", 0, false},
		{"1e3", 0, false},
		{"0x10", 0, false},
		{"1.2.3", 0, false},
		{".", 0, false},
		{"10s", 0, false},
		{"1,5", 0, false},
		{"soon", 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		got, found := Parse([]byte("User-agent: *\nCrawl-delay: " + tt.value)).Group("seine").CrawlDelay()
		if got != tt.want || found != tt.found {
			t.Errorf("Crawl-delay: %.20s = %v, %v; want %v, %v", tt.value, got, found, tt.want, tt.found)
		}
	}
}

func TestCrawlDelayOfMergedGroupsIsTheLongest(t *testing.T) {
	text := "User-agent: a\nCrawl-delay: 2\nDisallow: /x\nUser-agent: b\nCrawl-delay: 7\nDisallow: /\nUser-agent: A\nCrawl-delay: 3\nCrawl-delay: soon\n"
	if got, _ := Parse([]byte(text)).Group("a").CrawlDelay(); got != 3*time.Second {
		t.Errorf("CrawlDelay = %v, want 3s", got)
	}
}

func TestSitemaps(t *testing.T) {
	f := Parse([]byte("sitemap: https://a.example/1.xml\nUser-agent: x\nSiteMap : https://a.example/2.xml # new\nSitemap:\nSitemap: https://a.example/1.xml\n"))
	wantStrings(t, f.Sitemaps(), "https://a.example/1.xml", "https://a.example/2.xml")
}

// TestCut checks the 500 KiB limit of RFC 9309 section 2.5 around its edge: the
// line that crosses it is ignored whole, the line that just fits counts.
func TestCut(t *testing.T) {
	head, rule := "User-agent: *\n", "Disallow: /last"
	for _, tt := range []struct {
		over int
		tail string
		line string
	}{
		{0, "", "Disallow: /last"},
		{0, "\nDisallow: /more", "Disallow: /last"},
		{0, "\r\nDisallow: /more", "Disallow: /last"},
		{0, "-minute", ""},
		{1, "\n", ""},
	} {
		fill := MaxBytes - len(head) - len(rule) + tt.over
		body := head + strings.Repeat("#", fill-1) + "\n" + rule + tt.tail
		g := Parse([]byte(body)).Group("seine")
		wantVerdicts(t, g, verdict{"/last-minute", tt.line}, verdict{"/more", ""})
	}
	wantVerdicts(t, Parse(bytes.Repeat([]byte("x"), 2*MaxBytes)).Group("seine"), verdict{"/", ""})
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

func TestGroupIsNeverNil(t *testing.T) {
	for _, f := range []*File{AllowAll(), DisallowAll(), Parse(nil), {}} {
		for _, product := range []string{"", "*", "seine", "7"} {
			if f.Group(product) == nil {
				t.Errorf("Group(%q) is nil", product)
			}
		}
	}
}
