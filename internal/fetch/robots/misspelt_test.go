package robots

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// TestPlainlyForbidden parses files that do not conform to RFC 9309, but whose sites plainly forbid
// /private.
func TestPlainlyForbidden(t *testing.T) {
	const agent, rule = "User-agent: *", "Disallow: /private"
	tests := map[string]string{}
	for _, name := range []string{
		"Dissallow", "Disallaw", "Disalow", "Dissalow", "Diasllow", "Dsallow", "Desallow", "Disallows", "Disallowed", "Disalllow",
		"Dis-allow", "DIS ALLOW", "Dis_allow", "disаllow" /* a Cyrillic a */, "Dis\u200ballow", "\u00a0Disallow\u00a0", "\u200bDisallow",
		"\ufeffDisallow", "\x00Disallow", "- Disallow", "* Disallow", "\"Disallow",
	} {
		tests[name] = agent + "\n" + name + ": /private"
		tests[name+" without a colon"] = agent + "\n" + name + " /private"
	}
	for _, name := range []string{
		"Useragent", "User agent", "User_agent", "User-agents", "User-agnet", "Usr-agent", "User–agent", "UserAgent", "\u200bUser-agent",
		"\u00a0User-agent", "\xef\xbb\xbf\xef\xbb\xbfUser-agent", "ï»¿User-agent", "\x00\x00User-agent", "\xff\xfeUser-agent", "<pre>User-agent",
		"<!DOCTYPE html><html><body>User-agent", "robots.txt User-agent", "?User-agent", "<p class=a>User-agent",
	} {
		tests[name] = name + ": *\n" + rule
	}
	for _, value := range []string{
		":\u00a0/private", ":\u200b/private", ":/private\u00a0", ":/private\u200b", ":\xa0/private", ":\ufeff/private", ":\x00/private", ": \"/private\"",
		": \u3000/private", "= /private", "=/private", "：/private", " : /private\u2028", "; /private", "/private", "\t/private", ": private", `: \private`,
		": https://h.test/private", ": HTTP://h.test/private", " /private /other",
		":: /private", ":; /private", ": ./private", ": <private>", ": [/private]", ":(/private)", ": /\u200bprivate", ": /priv\u00adate", ": /private ; old", ": /private // old",
		": /private /* old */", ": /other, /private", ": /other /private", ": /other; /private", ": /a Disallow: /private", ": /a, Disallow: /private", ":/private/ Allow: /", ": /a\\nDisallow: /private",
	} {
		tests["Disallow"+value] = agent + "\nDisallow" + value
	}
	for _, value := range []string{":\u00a0*", ":\u200b*\u200b", ": \"*\"", " *", "= *", ": a, *", ": a,b,seine", ":\x00seine\x00", ": all", ": Any", ": **", ": *.*", ": .*", ": ＊", ": [*]", ": (*)", ": *seine*", ": a; seine", ": a|seine"} {
		tests["User-agent"+value] = "User-agent" + value + "\n" + rule
	}
	for _, between := range []string{" ", ", ", `\n`, `\r\n`} {
		tests["one line"+between] = agent + between + "Allow: /x" + between + rule
	}
	tests["lines of HTML"] = "<html><body><pre>User-agent: *<br>Disallow: /private<br/></pre>"
	for name, order := range map[string][2]int{"UTF-16LE": {0, 8}, "UTF-16BE": {8, 0}} {
		for _, mark := range []string{"", "\ufeff"} {
			var b strings.Builder
			for _, u := range utf16.Encode([]rune(mark + agent + "\r\n" + rule + "\r\n")) {
				b.WriteByte(byte(u >> order[0]))
				b.WriteByte(byte(u >> order[1]))
			}
			tests[name+mark] = b.String()
		}
	}
	for name, file := range tests {
		t.Run(name, func(t *testing.T) {
			f := Parse([]byte(file))
			if f.Group("seine").Allowed("/private/") || !f.Group("seine").Allowed("/x") {
				t.Errorf("%q: /private %v, /x %v; want it forbidden and the other allowed", file, f.Group("seine").Allowed("/private/"), f.Group("seine").Allowed("/x"))
			}
		})
	}
}

// TestNotForbidden: a misspelt line forbids nothing that it does not name, and never allows
// anything.
func TestNotForbidden(t *testing.T) {
	for file, want := range map[string]access{
		all + "Disallow: /\nAlow: /a":                         forbidden,
		all + "Disallow: /\nDo not allow: /a":                 forbidden,
		all + "Disallow: /\nAllow: a":                         forbidden,
		all + "Disallow: /\n\u00a0Allow\u200b:\u00a0/a\u00a0": allowed,
		all + "// Disallow: /":                                allowed,
		all + "; Disallow: /":                                 allowed,
		all + "To disallow us, ask / tell":                    allowed,
		all + "Noindex: /a\nHost: a.test\nClean-param: a /a\nContent-Signal: ai-train=no": allowed,
		all + "Disallow: \u00a0":  allowed,
		all + "Disallow: \"\"":    allowed,
		all + "Disallow: /<id>/b": allowed,
		all + "Disallow: /b c":    allowed, all + "Disallow: /b /* all of it */": allowed, all + "Comment: see Disallow /": allowed,
		all + "Disallow: all":                                               forbidden,
		"User agent strings of crawlers:\nDisallow: /":                      allowed,
		"User-agent: a\nUser agent strings of other crawlers\nDisallow: /b": allowed,
		"<html><head><title>Not found</title></head><body><p>The page: <a href='https://h.test/'>/</a> is not here</body></html>": allowed,
	} {
		if got := access(Parse([]byte(file)).Group("seine").Allowed("/a")); got != want {
			t.Errorf("%q: /a is %v, want %v", file, got, want)
		}
	}
}

func TestDelayWithUnits(t *testing.T) {
	const second, minute = time.Second, time.Minute
	for line, want := range map[string]time.Duration{
		"Crawl-delay: 3s": 3 * second, "Crawl-delay: 3 s": 3 * second, "Crawl-delay: 3 seconds": 3 * second, "Crawl-delay: 3sec.": 3 * second,
		"Crawl-delay: 2,5": 2500 * time.Millisecond, "Crawl-delay: 2,5 s": 2500 * time.Millisecond, "Crawl-delay: 0,125": 125 * time.Millisecond,
		"Crawl-delay: 500ms": second / 2, "Crawl-delay: 1500 milliseconds": 1500 * time.Millisecond,
		"Crawl-delay: 2m": 2 * minute, "Crawl-delay: 2 min": 2 * minute, "Crawl-delay: 1 minute": minute, "Crawl-delay: 1h": time.Hour,
		"Crawl-delay: 2 days": MaxCrawlDelay, "Crawl-delay: 5-10": 10 * second, "Crawl-delay:\u00a03": 3 * second, "Crawl-delay: \"3\"": 3 * second,
		"Crawl delay: 3": 3 * second, "Crawldelay: 3": 3 * second, "Craw-delay: 3": 3 * second, "Crawl-delay 3": 3 * second, "Crawl-delay=3": 3 * second,
		"Request-rate: 1/3": 3 * second, "Request-rate: 1/10s": 10 * second, "Request-rate: 30/1m": 2 * second, "Request-rate: 2 / 3": 1500 * time.Millisecond,
		"Request-rate: 1/5 0600-0845": 5 * second, "Request-rate: 1/1h": time.Hour, "Request rate: 1/3": 3 * second,
		"Request-rate: 1/minute": minute, "Request-rate: 60/h": minute, "Request-rate: 1 per 10 seconds": 10 * second, "Request-rate: 1 per minute": minute, "Request-rate: 1:10": 10 * second,
		"Request-rate: 1r/10s": 10 * second, "Request-rate: 0.5/10": 20 * second, "Crawl-delay: ١٠": 10 * second, "Crawl-delay: １０": 10 * second, "Crawl-delay: 10 (seconds)": 10 * second,
	} {
		if got, ok := Parse([]byte(all + line)).Group("seine").CrawlDelay(); got != want || !ok {
			t.Errorf("%s: %v, %v; want %v", line, got, ok, want)
		}
	}
	for _, line := range []string{"Request-rate: 0/3", "Request-rate: 1", "Request-rate: 1/", "Request-rate: /3", "Request-rate: often", "Crawl-delay: soon", "Crawl-delay: -3"} {
		f := Parse([]byte(all + line))
		if got, ok := f.Group("seine").CrawlDelay(); ok || len(f.Notes()) != 1 {
			t.Errorf("%s: %v, %q; want no delay and a note", line, got, f.Notes())
		}
	}
}

// TestSitemapLines: one line may name several sitemaps, with characters around them.
func TestSitemapLines(t *testing.T) {
	const a, b = "https://h.test/a.xml", "https://h.test/b.xml"
	for line, want := range map[string][]string{
		"Sitemap: " + a + " " + b: {a, b}, "Sitemap: " + a + ", " + b: {a, b}, "Sitemap: <" + a + ">": {a}, "Sitemap:: " + a: {a}, "Sitemap=" + a: {a}, "Site-map: " + a: {a},
		"Sitemap: " + a + " Sitemap: " + b: {a, b}, "Sitemap: https://h.test/?a,b": {"https://h.test/?a,b"},
	} {
		if got := Parse([]byte(all + line)).Sitemaps(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestNotes(t *testing.T) {
	f := Parse([]byte(all + "\n# fine\nDisallow: /a\nHost: h.test\nSitemap: https://h.test/s.xml\nDissallow: /b\nAlow: /c\nsome prose\nDisallow /d\n"))
	want := `"Dissallow: /b": read as disallow|"Alow: /c": not read|"some prose": not read|"Disallow /d": read as disallow`
	if got := strings.Join(f.Notes(), "|"); got != want {
		t.Errorf("notes:\n%s\nwant\n%s", got, want)
	}
	if got := Parse([]byte(strings.Repeat("junk\n", 1000))).Notes(); len(got) != maxNotes {
		t.Errorf("%d notes, want at most %d", len(got), maxNotes)
	}
}
