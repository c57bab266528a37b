package main

import (
	"time"

	"github.com/alecthomas/kong"

	"seine/internal/run/manpage"
	"seine/internal/testing/testweb"
)

// flags is the command line. Sizes left at 0 get the defaults of testweb.Config.
type flags struct {
	Addr string `help:"Address to listen on." default:"127.0.0.1:8080"`
	List bool   `help:"Print the URL of each page of a generated web that a correct crawler finds, and serve nothing."`
	Log  string `help:"Write the requests to this file, as JSON lines, at the end and on SIGHUP." type:"path"`

	Demo bool   `help:"Serve the small demo site." xor:"what"`
	Dir  string `help:"Serve this folder of files." type:"existingdir" xor:"what"`
	// Each spec in examples/ is for one of these.
	Shape string `help:"Serve a site of this shape: sports, opportunities, news, shop or docs." xor:"what"`

	Site         string        `help:"What the hosts are: tree, or one without an end: calendar, sessions, known-sessions, soft404, repeater, facets." enum:"tree,calendar,sessions,known-sessions,soft404,repeater,facets" default:"tree"`
	Seed         uint64        `help:"Seed that decides every byte." default:"1"`
	Hosts        int           `help:"Number of hosts: h0.localhost, h1.localhost, …" default:"1"`
	Domain       string        `help:"Domain of the hosts." default:"localhost"`
	Pages        int           `help:"Pages per host." default:"50"`
	Links        int           `help:"Links per page." default:"20"`
	CrossHost    float64       `help:"Fraction of links that lead to another host."`
	PageBytes    int           `help:"Median size of a page in bytes." default:"16384"`
	LargeRate    float64       `help:"Fraction of pages that are 1 to 4 MiB larger."`
	Latency      time.Duration `help:"Wait before every answer."`
	Jitter       time.Duration `help:"Up to this much more."`
	ErrorRate    float64       `help:"Fraction of pages that fail at first."`
	ErrorTries   int           `help:"How often these fail." default:"1"`
	MissingRate  float64       `help:"Fraction of pages with a dead link."`
	RedirectRate float64       `help:"Fraction of pages behind redirects."`
	Robots       string        `help:"robots.txt: rules, none (404), error (503) or deny." enum:"rules,none,error,deny" default:"rules"`
	CrawlDelay   time.Duration `help:"Crawl-delay in robots.txt."`
	Sitemap      bool          `help:"Serve sitemap.xml."`
	Traps        bool          `help:"Link crawler traps."`
	Special      bool          `help:"Serve the awkward answers below /special/ of host 0."`

	Version kong.VersionFlag `help:"Print the version."`
	Man     manpage.Flag     `hidden:"" help:"Print the manual page."`
}

func (f flags) config() testweb.Config {
	return testweb.Config{
		Site: testweb.SiteKind(f.Site), Seed: f.Seed, Hosts: f.Hosts, Domain: f.Domain,
		PagesPerHost: f.Pages, LinksPerPage: f.Links, CrossHostLinks: f.CrossHost, PageBytes: f.PageBytes, LargeRate: f.LargeRate,
		Latency: f.Latency, LatencyJitter: f.Jitter,
		ErrorRate: f.ErrorRate, ErrorTries: f.ErrorTries, MissingRate: f.MissingRate, RedirectRate: f.RedirectRate,
		RobotsTxt: testweb.RobotsMode(f.Robots), CrawlDelay: f.CrawlDelay,
		Sitemap: f.Sitemap, Traps: f.Traps, Special: f.Special,
	}
}
