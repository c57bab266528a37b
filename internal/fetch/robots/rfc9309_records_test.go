package robots

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const amongAgents = `User-agent: a
Sitemap: https://example.org/one.xml
User-agent: b
Crawl-delay: 5
Host: example.org
User-agent: c
Disallow: /x
Sitemap: https://example.org/two.xml
Disallow: /y
`

// recordFacts are the facts of section 2.2.4: other records change nothing.
var recordFacts = []fact{
	{"2.2.4 a Sitemap does not end the list of agents", "a", amongAgents, "/x", forbidden},
	{"2.2.4 nor does a Crawl-delay", "b", amongAgents, "/x", forbidden},
	{"2.2.4 nor an unknown record", "c", amongAgents, "/x", forbidden},
	{"2.2.4 a Sitemap does not end the group", "a", amongAgents, "/y", forbidden},
	{"2.2.4 a Crawl-delay is no rule: the agent below joins", "a", "User-agent: a\nCrawl-delay: 10\n\nUser-agent: b\nDisallow: /", "/", forbidden},
	{"2.2.4 a bad Crawl-delay does not end the group", "seine", all + "Crawl-delay: soon\nDisallow: /b", "/b", forbidden},
	{"2.2.4 a Sitemap before any agent opens no group", "seine", "Sitemap: https://example.org/s.xml\nDisallow: /a", "/a", allowed},
	{"2.2.4 unknown records do not end the group", "seine", all + "Clean-param: ref /a\nContent-Signal: ai-train=no\nDisallow: /b", "/b", forbidden},
	{"2.2.4 Noindex forbids nothing", "seine", all + "Noindex: /a", "/a", allowed},
	{"2.2.4 Request-rate forbids nothing", "seine", all + "Request-rate: 1/10\nVisit-time: 0600-0845", "/", allowed},
	{"2.2.4 misspelt, Disallow forbids", "seine", all + "Dissallow: /a", "/a", forbidden},
	{"2.2.4 misspelt, User-agent names an agent", "seine", "Useragent: *\nDisallow: /a", "/a", forbidden},
	{"2.2.4 a letter that is not of ASCII is a slip", "seine", all + "Di\u017fallow: /a", "/a", forbidden},
}

// limitFacts are the facts of section 2.5: 500 KiB are read.
var limitFacts = []fact{
	{"2.5 a rule that ends at the limit counts", "seine", untilLimit(all, "Disallow: /last", 0), "/last", forbidden},
	{"2.5 so it does before a line end", "seine", untilLimit(all, "Disallow: /last", 0) + "\nDisallow: /more", "/last", forbidden},
	{"2.5 so it does before CR LF", "seine", untilLimit(all, "Disallow: /last", 0) + "\r\nDisallow: /more", "/last", forbidden},
	{"2.5 what lies beyond does not count", "seine", untilLimit(all, "Disallow: /last", 0) + "\nDisallow: /more", "/more", allowed},
	{"2.5 a rule cut at the limit does not count", "seine", untilLimit(all, "Disallow: /last", 0) + "-minute", "/last-minute", allowed},
	{"2.5 nor does its beginning", "seine", untilLimit(all, "Disallow: /last", 0) + "-minute", "/last", allowed},
	{"2.5 a rule one octet over does not count", "seine", untilLimit(all, "Disallow: /last", 1), "/last", allowed},
	{"2.5 an Allow is cut as well", "seine", untilLimit(all+"Disallow: /\n", "Allow: /", 0) + "x", "/x", forbidden},
	{"2.5 an agent cut at the limit is not named", "seine", untilLimit(all+"Disallow: /\n", "User-agent: seine", 0) + "-news", "/x", forbidden},
	{"2.5 a file that is one line too long is empty", "seine", strings.Repeat("x", 2*MaxBytes), "/", allowed},
	{"2.5 a huge line is passed over", "seine", all + strings.Repeat("x", 400<<10) + "\nDisallow: /a", "/a", forbidden},
	{"2.5 a huge path matches", "seine", all + "Disallow: /" + strings.Repeat("a", 100<<10), "/" + strings.Repeat("a", 100<<10), forbidden},
	{"2.5 a huge path matches as a whole", "seine", all + "Disallow: /" + strings.Repeat("a", 100<<10), "/" + strings.Repeat("a", 100<<10-1), allowed},
	{"2.5 the last of many rules counts", "seine", all + strings.Repeat("Disallow: /x\n", 20_000) + "Disallow: /a", "/a", forbidden},
	{"2.5 the last of many agents counts", "seine", strings.Repeat("User-agent: x\n", 20_000) + "User-agent: seine\nDisallow: /a", "/a", forbidden},
}

// untilLimit returns a file whose last line ends over octets beyond the limit.
func untilLimit(head, last string, over int) string {
	fill := MaxBytes - len(head) - len(last) + over
	return head + strings.Repeat("#", fill-1) + "\n" + last
}

// TestCrawlDelay: RFC 9309 does not define Crawl-delay, but section 2.2.4 allows a crawler to read
// it.
func TestCrawlDelay(t *testing.T) {
	for _, tt := range []struct {
		name, agent, file string
		want              time.Duration
		found             bool
	}{
		{"none", "seine", all + "Disallow: /", 0, false},
		{"seconds", "seine", all + "Crawl-delay: 10", 10 * time.Second, true},
		{"a name without case", "seine", all + "CRAWL-DELAY:10", 10 * time.Second, true},
		{"a fraction", "seine", all + "Crawl-delay: 0.5", 500 * time.Millisecond, true},
		{"a fraction without its zero", "seine", all + "Crawl-delay: .5", 500 * time.Millisecond, true},
		{"zero", "seine", all + "Crawl-delay: 0", 0, true},
		{"a comment behind", "seine", all + "Crawl-delay: 3 # seconds", 3 * time.Second, true},
		{"a day", "seine", all + "Crawl-delay: 86400", MaxCrawlDelay, true},
		{"more than a day", "seine", all + "Crawl-delay: 86401", MaxCrawlDelay, true},
		{"absurd", "seine", all + "Crawl-delay: " + strings.Repeat("9", 400), MaxCrawlDelay, true},
		{"negative", "seine", all + "Crawl-delay: -1", 0, false},
		{"positive by its sign", "seine", all + "Crawl-delay: +1", time.Second, true},
		{"not a number", "seine", all + "Crawl-delay: NaN", 0, false},
		{"infinite", "seine", all + "Crawl-delay: Inf", 0, false},
		{"an exponent", "seine", all + "Crawl-delay: 1e3", 1000 * time.Second, true},
		{"hexadecimal", "seine", all + "Crawl-delay: 0x10", 10 * time.Second, true},
		{"two dots", "seine", all + "Crawl-delay: 1.2.3", 3 * time.Second, true},
		{"a dot", "seine", all + "Crawl-delay: .", 0, false},
		{"a unit", "seine", all + "Crawl-delay: 10s", 10 * time.Second, true},
		{"a comma", "seine", all + "Crawl-delay: 1,5", 1500 * time.Millisecond, true},
		{"two numbers: the longer", "seine", all + "Crawl-delay: 1 5", 5 * time.Second, true},
		{"text", "seine", all + "Crawl-delay: soon", 0, false},
		{"empty", "seine", all + "Crawl-delay:", 0, false},
		{"before any agent", "seine", "Crawl-delay: 9\nUser-agent: *\nDisallow: /b", 0, false},
		{"of another's group", "seine", "User-agent: a\nCrawl-delay: 9\nDisallow: /b", 0, false},
		{"of the star's group beside one's own", "seine", all + "Crawl-delay: 9\nDisallow: /b\nUser-agent: seine\nDisallow: /", 0, false},
		{"behind the rules", "seine", all + "Disallow: /b\nCrawl-delay: 9", 9 * time.Second, true},
		{"the longest of a group", "seine", all + "Crawl-delay: 3\nCrawl-delay: 7\nCrawl-delay: 5", 7 * time.Second, true},
		{"the longest of merged groups", "a", "User-agent: a\nCrawl-delay: 2\nDisallow: /x\nUser-agent: b\nCrawl-delay: 7\nDisallow: /\nUser-agent: A\nCrawl-delay: 3\nCrawl-delay: soon", 3 * time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, found := Parse([]byte(tt.file)).Group(tt.agent).CrawlDelay()
			if got != tt.want || found != tt.found {
				t.Errorf("%.200q: %v, %v; want %v, %v", tt.file, got, found, tt.want, tt.found)
			}
		})
	}
}

// TestSitemaps: a Sitemap belongs to no group, section 2.2.4.
func TestSitemaps(t *testing.T) {
	const one, two = "https://a.example/1.xml", "https://b.example/2.xml"
	for _, tt := range []struct {
		name, file string
		want       []string
	}{
		{"none", all + "Disallow: /", nil},
		{"alone", "Sitemap: " + one, []string{one}},
		{"a name without case", "SITEMAP:" + one, []string{one}},
		{"several, in their order", "Sitemap: " + two + "\nSitemap: " + one, []string{two, one}},
		{"before, in and behind groups", "Sitemap: " + one + "\nUser-agent: a\nSitemap: " + two + "\nDisallow: /\nSitemap: /3.xml", []string{one, two, "/3.xml"}},
		{"one that comes again", "Sitemap: " + one + "\nSitemap: " + two + "\nSitemap: " + one, []string{one, two}},
		{"a relative one as it stands", "Sitemap: maps/1.xml", []string{"maps/1.xml"}},
		{"a comment behind", "Sitemap : " + one + " # new", []string{one}},
		{"an empty one", "Sitemap:\nSitemap: # none\nSitemap: " + one, []string{one}},
		{"the plural", "Sitemaps: " + one, []string{one}},
		{"behind the limit", untilLimit(all, "Sitemap: "+one, 0) + "\nSitemap: " + two, []string{one}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Parse([]byte(tt.file)).Sitemaps(); !slices.Equal(got, tt.want) {
				t.Errorf("%.200q: %q, want %q", tt.file, got, tt.want)
			}
		})
	}
}
