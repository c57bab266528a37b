package crawlspec

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/version"
	"seine/pkg/messages"
)

// Scope says which hosts a crawl may enter.
type Scope string

// Scopes.
const (
	ScopeHost   Scope = "host"   // the hosts of the seeds
	ScopeDomain Scope = "domain" // the registrable domains of the seeds
	ScopeAny    Scope = "any"    // every host
)

// Robots is the treatment of robots.txt.
type Robots string

// Robots policies.
const (
	RobotsObey   Robots = "obey"   // RFC 9309
	RobotsIgnore Robots = "ignore" // for one's own sites
)

// Spec defines a crawl. It is stored in BucketCrawls under the name of the crawl; every stage watches it. A
// crawl without a spec uses Default.
type Spec struct {
	V int `json:"v"`
	// Seeds are the URLs where the crawl starts, in addition to seeds that clients publish. Seeds that you add
	// later are submitted then; a run of Schedule begins with the current list.
	Seeds []Seed `json:"seeds,omitempty"`
	// Scope says which hosts may be entered; a seed is always in scope.
	Scope Scope `json:"scope"`
	// Hosts and Domains are in scope beside the seeds', in every scope. A domain
	// has all its subdomains.
	Hosts   []string `json:"hosts,omitempty"`
	Domains []string `json:"domains,omitempty"`
	// Schemes to fetch; if empty, http and https.
	Schemes []string `json:"schemes,omitempty"`
	// Include, if not empty, lists patterns of which a URL must match one;
	// Exclude those it must not. A pattern is compared with the whole URL, or with
	// its path and query if it begins with "/", '*' standing for anything; "re:…" is
	// a regular expression (RE2) found anywhere in the URL. Seeds are not held to Include.
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// MaxDepth is the largest number of links from a seed; nil for no limit.
	MaxDepth *int `json:"max_depth,omitempty"`
	// MaxPages, MaxBytes (of bodies, on the wire) and MaxDuration (since its first request) stop the crawl;
	// queued URLs stay queued. 0 for no limit.
	MaxPages    int64    `json:"max_pages,omitempty"`
	MaxBytes    Bytes    `json:"max_bytes,omitempty"`
	MaxDuration Duration `json:"max_duration,omitempty"`
	// Keep is the time after its end at which a crawl is deleted with all its state, but not its output; 0 for
	// never. The time starts again when seeds are added or the spec changes. A crawl with a schedule or recrawl
	// rules ends at a limit, or when it is cancelled.
	Keep Duration `json:"keep,omitempty"`
	// State stops a crawl, or lets it continue.
	State RunState `json:"state,omitempty"`
	// Politeness is the pace of requests to a host. Sources override it for some hosts.
	Politeness
	Sources []HostRule `json:"sources,omitempty"`
	// Access has the headers, credentials, proxies and TLS settings of requests. Sources override it for some
	// hosts.
	Access
	// Requests define how some URLs are requested, where a plain GET is not enough, such as for APIs. The first
	// matching rule decides.
	Requests []RequestRule `json:"requests,omitempty"`
	// Render selects the pages that a browser renders before they are parsed; without it, none.
	Render *Render `json:"render,omitempty"`
	// Extraction defines the records and links of pages.
	Extraction
	// GroupBy defines which hosts share their politeness.
	GroupBy GroupBy `json:"group_by,omitempty"`
	// Traps are guards against sites without an end.
	Traps Traps `json:"traps"`
	// Normalize defines which further URLs are equal.
	Normalize Normalize `json:"normalize"`
	// Priorities set the priority of URLs. The first matching rule decides; it takes precedence over the
	// priority of the seed or the page.
	Priorities []PriorityRule `json:"priorities,omitempty"`
	// Recrawl says which pages are fetched again, and when; the first rule that
	// matches decides. Without any, each page is fetched once.
	Recrawl []RecrawlRule `json:"recrawl,omitempty"`
	// Schedule starts the whole crawl again from its seeds: "@every 6h", counted
	// from the start of 1970 in UTC, or five fields as in cron(5), in TimeZone. A
	// start that was missed is made up for, once.
	Schedule string `json:"schedule,omitempty"`
	// Again starts one run in addition to those of the schedule, when it is set and whenever it grows. The run
	// visits every URL that was visited before, linked to or not. Its value is the number of the run, in Unix
	// seconds; 0 for none.
	Again int64 `json:"again,omitempty"`
	// MaxAttempts is how often a URL is tried before it counts as failed.
	MaxAttempts int `json:"max_attempts"`
	// OnStatus says how often, and after which wait, a URL is tried again by the status of
	// its answer. Without a rule, the class of the answer decides.
	OnStatus StatusRules `json:"on_status,omitempty"`
	// MaxRedirects is how many redirects in a row are followed.
	MaxRedirects int `json:"max_redirects"`
	// UserAgent is sent with every request; its first word up to '/' is the name
	// that robots.txt is searched for.
	UserAgent string `json:"user_agent"`
	// Contact is a URL or an e-mail address where site owners can reach you. It is added to the default user
	// agent.
	Contact string `json:"contact,omitempty"`
	Robots  Robots `json:"robots"`
	// Sitemaps follows the sitemaps that robots.txt names, and any other that is
	// linked to or given as a seed.
	Sitemaps bool `json:"sitemaps,omitempty"`
	// Accept lists media types to fetch in addition to HTML, plain text and those that rules read, such as
	// "text/calendar" or "image/*".
	Accept Strings `json:"accept,omitempty"`
	// SkipExtensions lists extensions of files that are not requested, in lower case and without a dot. Seeds
	// are exempt, and so are types of Accept or of a rule. The default are extensions of files that are not
	// pages: images, sound, films, fonts, archives, programs and office documents (docs/reference/spec.md lists
	// them).
	SkipExtensions Extensions `json:"skip_extensions,omitzero"`
	// AllowPrivate lets the fetcher dial loopback and private addresses.
	AllowPrivate bool `json:"allow_private,omitempty"`
	// AllowAddresses are networks that may be dialled beside the public ones, as
	// in "10.1.0.0/16", whatever they are.
	AllowAddresses []netip.Prefix `json:"allow_addresses,omitempty"`
	// Archive keeps what WARC archives need: the request as sent, the head of the response as received, and the
	// body in its original encoding.
	Archive bool `json:"archive,omitempty"`
	// MaxBody is the largest body kept, in bytes, decoded.
	MaxBody Bytes `json:"max_body"`
	// Timeout bounds a whole request.
	Timeout Duration `json:"timeout"`
	// Alerts are the thresholds of alerts.
	Alerts Alerts `json:"alerts"`
}

// Defaults of a Spec.
const (
	DefaultMaxAttempts  = 4
	DefaultMaxRedirects = 10
	DefaultMaxBody      = Bytes(32 << 20)
	DefaultTimeout      = Duration(60 * time.Second)
	DefaultUserAgent    = "seine/" + version.Number + " (web crawler)"
)

// MinKeep is the least Spec.Keep other than 0.
const MinKeep = Duration(time.Second)

// Default returns a polite spec that stays on the hosts of the seeds.
func Default() Spec {
	return Spec{
		V: messages.Version, Scope: ScopeHost, State: Running, Politeness: DefaultPoliteness(), GroupBy: GroupByHost,
		Traps: DefaultTraps(), Normalize: DefaultNormalize(), Extraction: DefaultExtraction(),
		MaxAttempts: DefaultMaxAttempts, MaxRedirects: DefaultMaxRedirects,
		UserAgent: DefaultUserAgent, Robots: RobotsObey,
		MaxBody: DefaultMaxBody, Timeout: DefaultTimeout, Alerts: DefaultAlerts(),
	}
}

// Validate returns the errors of all keys, as FieldErrors, with their valid values.
func (s *Spec) Validate() error {
	var p Problems
	c := specCheck{s}
	if c.checkHidden(&p); len(p) > 0 {
		return p.Err() // the sender did not write the rest
	}
	s.Politeness.check(&p, "")
	limits := c.SourceLimits(-1)
	limits.check(&p, "")
	for _, check := range []func(*Problems){
		c.checkSources, c.checkScope, c.checkBudgets, c.checkLists, s.Traps.check, s.Normalize.check, c.checkSchedule,
		c.checkFetch, c.checkAccess, c.checkRender, s.Extraction.check, s.Alerts.check,
	} {
		check(&p)
	}
	return p.Err()
}

// specCheck validates a spec: each of its methods reports the errors of one part.
type specCheck struct{ *Spec }

func (c specCheck) checkScope(p *Problems) {
	p.oneOf("scope", string(c.Scope), []string{string(ScopeHost), string(ScopeDomain), string(ScopeAny)})
	p.oneOf("group_by", string(c.GroupBy), []string{string(GroupByHost), string(GroupByDomain), string(GroupByIP)})
	if c.MaxDepth != nil {
		between(p, "max_depth", *c.MaxDepth, 0, messages.MaxDepth)
	}
	for i, scheme := range c.Schemes {
		p.oneOf(fmt.Sprintf("schemes[%d]", i), scheme, []string{"http", "https"})
	}
	for i, name := range c.Hosts {
		p.Add(fmt.Sprintf("hosts[%d]", i), checkHostName(name))
	}
	for i, name := range c.Domains {
		p.Add(fmt.Sprintf("domains[%d]", i), checkHostName(name))
	}
	for i, pattern := range c.Include {
		p.pattern(memberPath("include", i, len(c.Include)), pattern)
	}
	for i, pattern := range c.Exclude {
		p.pattern(memberPath("exclude", i, len(c.Exclude)), pattern)
	}
}

func (c specCheck) checkBudgets(p *Problems) {
	notNegative(p, "max_pages", c.MaxPages, "0 for no limit")
	notNegative(p, "max_bytes", c.MaxBytes, "0 for no limit")
	notNegative(p, "max_duration", c.MaxDuration, "0s for no limit")
	if c.Keep < 0 || c.Keep > 0 && c.Keep < MinKeep {
		p.Addf("keep", "%s: must be at least %s (0s keeps the crawl until it is deleted)", c.Keep, MinKeep)
	}
	notNegative(p, "again", c.Again, "0 for none")
	p.oneOf("state", string(c.State), runStates)
}

func (c specCheck) checkFetch(p *Problems) {
	c.OnStatus.check(p, "on_status")
	p.oneOf("robots", string(c.Robots), []string{string(RobotsObey), string(RobotsIgnore)})
	switch {
	case c.ProductToken() == "":
		p.Addf("user_agent", "%q: must start with a name of letters, '-' and '_'", c.UserAgent)
	case !printable(c.UserAgent):
		p.Addf("user_agent", "%q: must be printable ASCII", c.UserAgent)
	}
}

func (c specCheck) checkAccess(p *Problems) {
	if !printable(c.Contact) || strings.ContainsAny(c.Contact, "() ") || c.Contact != "" && !strings.ContainsAny(c.Contact, ":@") {
		p.Addf("contact", "%q: must be a URL or an e-mail address", messages.Clip(c.Contact))
	}
	c.Access.check(p, "", false)
	c.checkAccessSize(p)
	c.checkAddresses(p)
	c.checkAccept(p)
	c.checkExtensions(p)
}

// Agent returns the user agent without UserAgents. It includes the contact, if there is one.
func (s *Spec) Agent() string {
	if s.UserAgent == DefaultUserAgent && s.Contact != "" {
		return "seine/" + version.Number + " (web crawler; +" + s.Contact + ")"
	}
	return s.UserAgent
}

// ProductToken returns the name in the user agent that robots.txt is searched for (RFC 9309,
// section 2.2.1): its first word or, if it is compatible with a browser, as in "Mozilla/5.0
// (compatible; mybot/1.0)", the name after "compatible".
func (s *Spec) ProductToken() string {
	first := tokenAt(s.UserAgent)
	if _, name, ok := strings.Cut(s.UserAgent, "(compatible; "); ok && first == "Mozilla" && tokenAt(name) != "" {
		return tokenAt(name)
	}
	return first
}

// tokenAt returns the product token at the start of a text.
func tokenAt(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	})
	if end < 0 {
		return text
	}
	return text[:end]
}

// CompilePatterns compiles patterns, and returns the error of the first invalid one.
func CompilePatterns(patterns []string) ([]*regexp.Regexp, error) {
	all := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		var err error
		if all[i], err = CompilePattern(p); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// CompilePattern compiles a pattern for URLs: a regular expression after "re:", which is searched
// for in the URL; the path and the query of any host if it begins with "/"; otherwise the whole
// URL. In the last two "*" stands for anything.
func CompilePattern(p string) (*regexp.Regexp, error) {
	expr, isRegexp := strings.CutPrefix(p, "re:")
	switch {
	case expr == "":
		return nil, errors.New(`a pattern is empty: write "*" for everything`)
	case !isRegexp:
		origin := ""
		if expr[0] == '/' {
			origin = "[^:/]+://[^/]*"
		}
		expr = "^" + origin + strings.ReplaceAll(regexp.QuoteMeta(expr), `\*`, ".*") + "$"
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", p, err)
	}
	return re, nil
}

// Encode returns the stored form of the spec. It does not change s, which is shared by its readers.
func (s *Spec) Encode() []byte {
	stored := *s
	stored.V = messages.Version
	return messages.Encode(&stored)
}

// Decode decodes a stored spec. Missing fields have their defaults. An unknown field is an error:
// ignoring a misspelt rule would start another crawl than the user wants.
func Decode(data []byte) (*Spec, error) {
	s := Default()
	if err := messages.Decode(data, &s, &s.V); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	if err := cmp.Or(jsontext.UnmarshalStrict(data, new(Spec)), s.Validate(), (specCheck{&s}).checkStored()); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	return &s, nil
}

// KeepsLinks reports whether the frontier must keep the links of a page, for runs in which the page
// is unchanged: the crawl has runs, and a request for the page may be conditional.
func (s *Spec) KeepsLinks(pg *messages.Page) bool {
	return s.Schedule != "" && (len(pg.Header["Etag"]) > 0 || len(pg.Header["Last-Modified"]) > 0)
}
