package testweb

import "time"

// Defaults of Config.
const (
	DefaultHosts        = 1
	DefaultDomain       = "localhost"
	DefaultPagesPerHost = 50
	DefaultLinksPerPage = 20
	DefaultPageBytes    = 16 << 10
	DefaultErrorTries   = 1
	DefaultLogLimit     = 1_000_000
)

// RobotsMode selects the answer of all hosts to a request for /robots.txt.
type RobotsMode string

// The robots.txt of every host.
const (
	RobotsRules   RobotsMode = "rules" // forbids /private/ except /private/open/; the default
	RobotsMissing RobotsMode = "none"  // 404, so everything is allowed (RFC 9309 section 2.3.1.3)
	RobotsError   RobotsMode = "error" // 503, so everything is forbidden (RFC 9309 section 2.3.1.4)
	RobotsDenyAll RobotsMode = "deny"  // "Disallow: /"
)

// Config describes a web. The zero value is one host with 50 working pages.
type Config struct {
	Seed   uint64 // determines every byte; the same seed and sizes give the same web
	Hosts  int    // number of hosts, default 1
	Domain string // hosts are named h0.<Domain>, h1.<Domain>, …; default "localhost"

	Site SiteKind // kind of the hosts, default SiteTree; other kinds are endless

	PagesPerHost   int     // HTML pages that answer 200, default 50
	LinksPerPage   int     // links in the content of one page, default 20; links of the tree are never left out
	CrossHostLinks float64 // fraction (0 to 1) of random links that lead to another host, default 0
	PageBytes      int     // median size of a page in bytes, default 16 KiB; from an eighth to eight times that
	LargeRate      float64 // fraction of pages with 1 to 4 MiB more, in a comment that hardly compresses, default 0

	Latency       time.Duration // wait before every answer, default 0
	LatencyJitter time.Duration // additional random latency up to this, uniformly distributed, default 0

	ErrorRate    float64 // fraction of pages that answer 5xx at first, default 0
	ErrorTries   int     // number of failures before such a page answers 200, default 1
	MissingRate  float64 // fraction of pages with a dead link (404, sometimes 410), default 0
	RedirectRate float64 // fraction of pages their parent reaches only through redirects, default 0; also adds loops

	RobotsTxt  RobotsMode    // default RobotsRules
	CrawlDelay time.Duration // Crawl-delay in robots.txt, default none
	Sitemap    bool          // serve /sitemap.xml and name it in robots.txt
	Traps      bool          // link endless calendars, session ids, repeating folders and soft 404s
	Special    bool          // serve unusual answers below /special/ on host 0

	LogLimit int // number of requests kept, default 1e6; later ones are only counted
}

// withDefaults sets defaults for zero fields.
func (c Config) withDefaults() Config {
	setInt(&c.Hosts, DefaultHosts)
	setInt(&c.PagesPerHost, DefaultPagesPerHost)
	setInt(&c.LinksPerPage, DefaultLinksPerPage)
	setInt(&c.PageBytes, DefaultPageBytes)
	setInt(&c.ErrorTries, DefaultErrorTries)
	setInt(&c.LogLimit, DefaultLogLimit)
	if c.Site == "" {
		c.Site = SiteTree
	}
	if c.Site != SiteTree {
		c.ErrorRate, c.MissingRate, c.RedirectRate, c.CrossHostLinks, c.Traps, c.Special = 0, 0, 0, 0, false, false
	}
	if c.Domain == "" {
		c.Domain = DefaultDomain
	}
	if c.RobotsTxt == "" {
		c.RobotsTxt = RobotsRules
	}
	return c
}

func setInt(v *int, def int) {
	if *v <= 0 {
		*v = def
	}
}
