package fetcher

import (
	"encoding/base64"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"seine/internal/base/contentcoding"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// access is how one URL is requested. Nothing of it outlives the URL: the next
// one may be of another source.
type access struct {
	profile *accessProfile
	shape   *renderedRequest // nil is a plain GET
	cookie  string           // those of the site, "" is none
}

// accessProfile is how the URLs of one source are asked for, and by which way: an Access
// of the spec, ready for use.
type accessProfile struct {
	headers []http.Header // complete, one for each user agent; only read
	next    atomic.Uint32 // user agent
	private []string      // names of fields that must not be stored
	// withheld names the credentials that are not sent, because the source does
	// not trust the origin; nil is none.
	withheld []string
	accepts  accepts
	cookies  bool
	way      transportKey // without a proxy
	proxies  []*proxy     // none is direct
	turn     atomic.Uint32
	err      error // a failure: the spec asks for what this fetcher does not have
}

// header returns the fields that every request has, for reading only. User
// agents take turns.
func (m *accessProfile) header() http.Header {
	if len(m.headers) == 1 {
		return m.headers[0]
	}
	return m.headers[int(m.next.Add(1)-1)%len(m.headers)]
}

// accessPolicy is a spec as the fetcher needs it.
type accessPolicy struct {
	spec    *crawlspec.Spec // each revision has its own
	others  *accessProfile
	sources []sourceManners
	rules   []rule
	include []*regexp.Regexp // patterns of the spec: which URLs may be fetched
	exclude []*regexp.Regexp
	guard   string    // which addresses may be dialled, as a key
	hidden  *redactor // nil if the spec has no secrets
	until   time.Time // it may have what is missing now; zero if nothing is
}

// sourceManners are how the URLs of one source are asked for.
type sourceManners struct {
	trusted *accessProfile
	others  *accessProfile // of origins that must not see the credentials
}

// missingAge is after how long a fetcher looks again for what it lacked.
const missingAge = 5 * time.Second

// access works out how a canonical URL is requested. Every request that leaves
// passes through here: credentials, headers, cookies, TLS and proxies follow the
// URL that is requested, never the one that led to it. A robots.txt is always a
// plain GET. The error is a failure: a secret or a parameter is missing.
func (p *accessPolicy) access(url string, robots bool) (a access, err error) {
	a.profile = p.profile(url)
	if a.profile.err != nil || robots {
		return a, a.profile.err
	}
	if r := p.rule(url); r != nil {
		a.shape, err = r.render(url)
	}
	return a, err
}

// profile returns how a canonical URL is asked for.
func (p *accessPolicy) profile(url string) *accessProfile {
	i := p.spec.AccessSource(url)
	switch {
	case i < 0:
		return p.others
	case p.spec.Sources[i].Trusts(url):
		return p.sources[i].trusted
	}
	return p.sources[i].others
}

// policyCache keeps the plan of each crawl.
type policyCache struct {
	client  *client
	secrets secretStore
	warn    func(msg string, args ...any)
	byCrawl stages.RecentCrawls[*accessPolicy]
	plain   sync.Map // names of secrets that were looked at
}

// of returns the plan for a spec of a crawl.
func (c *policyCache) of(crawl string, spec crawlspec.Revision) *accessPolicy {
	if p, ok := c.byCrawl.Get(crawl); ok && p.spec == spec.Spec && (p.until.IsZero() || time.Now().Before(p.until)) {
		return p
	}
	p := c.compile(spec.Spec)
	c.byCrawl.Put(crawl, p)
	return p
}

func (c *policyCache) compile(spec *crawlspec.Spec) *accessPolicy {
	p := &accessPolicy{spec: spec, hidden: c.redactor(spec), guard: wayOf(spec, nil).guardKey()}
	failed := false
	compiled := func(a crawlspec.Access, withheld []string) *accessProfile {
		m := c.profile(spec, &a, withheld)
		failed = failed || m.err != nil
		p.hidden.learn(m)
		return m
	}
	p.others = compiled(spec.Access, nil)
	for i := range spec.Sources {
		m := sourceManners{trusted: compiled(spec.AccessOf(i, true), nil)}
		m.others = m.trusted
		if names := spec.Sources[i].Credentials(); names != nil {
			m.others = compiled(spec.AccessOf(i, false), names)
		}
		p.sources = append(p.sources, m)
	}
	for i := range spec.Requests {
		r := c.rule(&spec.Requests[i])
		if p.hidden != nil {
			r.secrets.used = p.hidden.mask
		}
		p.rules = append(p.rules, r)
	}
	p.include, p.exclude = patterns(spec.Include), patterns(spec.Exclude)
	if failed {
		p.until = time.Now().Add(missingAge)
	}
	return p
}

// profile makes an access ready for use; what is wrong with it concerns no other.
func (c *policyCache) profile(spec *crawlspec.Spec, a *crawlspec.Access, withheld []string) *accessProfile {
	m := &accessProfile{withheld: withheld, cookies: a.Cookies != nil && *a.Cookies, way: wayOf(spec, a.TLS)}
	m.err = c.fill(m, spec, a)
	return m
}

// fill gives a profile what is looked up.
func (c *policyCache) fill(m *accessProfile, spec *crawlspec.Spec, a *crawlspec.Access) (err error) {
	m.accepts = c.client.accepts.and(spec.Accepts())
	fixed := http.Header{"Accept": {m.accepts.header()}, "Accept-Encoding": {contentcoding.Accept}}
	if m.private, err = c.addHeaders(fixed, a.Headers); err != nil {
		return err
	}
	if a.Auth != nil {
		value, err := c.authorization(a.Auth)
		if err != nil {
			return err
		}
		fixed["Authorization"] = []string{value}
		m.private = append(m.private, "Authorization")
	}
	agents := a.UserAgents
	if len(agents) == 0 {
		agents = []string{spec.Agent()}
	}
	for _, agent := range agents {
		h := maps.Clone(fixed)
		h["User-Agent"] = []string{agent}
		m.headers = append(m.headers, h)
	}
	for _, text := range a.Proxies {
		p, err := c.client.ways.proxy(text, c.secrets)
		if err != nil {
			return err
		}
		m.proxies = append(m.proxies, p)
	}
	return nil
}

// addHeaders sets fields in h as the spec spells them, and returns the names of
// those that hold a secret. A field that h has under another spelling is
// replaced.
func (c *policyCache) addHeaders(h http.Header, fields map[string]string) (private []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, err := c.secrets.fill(fields[name])
		if err != nil {
			return nil, err
		}
		if crawlspec.IsCredential(name, fields[name]) {
			private = append(private, name)
		}
		setField(h, name, value)
	}
	return private, nil
}

// setField sets a field as it is spelt, in the place of one that is spelt
// otherwise.
func setField(h http.Header, name, value string) {
	for old := range h {
		if strings.EqualFold(old, name) {
			delete(h, old)
		}
	}
	h[name] = []string{value}
}

func (c *policyCache) authorization(a *crawlspec.Auth) (string, error) {
	if a.Bearer != "" {
		token, err := c.secrets.fill(a.Bearer)
		return "Bearer " + token, err
	}
	password, err := c.secrets.fill(a.Password)
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(a.User+":"+password)), err
}

// rule is a RequestRule, compiled.
type rule struct {
	*crawlspec.RequestRule
	match   *regexp.Regexp
	header  map[string]string // with its secrets, and places for parameters
	private []string
	secrets secretStore
}

func (c *policyCache) rule(r *crawlspec.RequestRule) rule {
	re, err := crawlspec.CompilePattern(r.Match)
	if err != nil {
		panic(err) // the spec is valid
	}
	out := rule{RequestRule: r, match: re, header: r.Headers, secrets: c.secrets}
	for name, value := range r.Headers {
		if crawlspec.IsCredential(name, value) {
			out.private = append(out.private, name)
		}
	}
	return out
}

func patterns(texts []string) []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, text := range texts {
		re, err := crawlspec.CompilePattern(text)
		if err != nil {
			panic(err) // the spec is valid
		}
		all = append(all, re)
	}
	return all
}

// includes reports whether the patterns of the spec let a URL be fetched.
func (p *accessPolicy) includes(url string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(url) }
	return !slices.ContainsFunc(p.exclude, matches) && (len(p.include) == 0 || slices.ContainsFunc(p.include, matches))
}

// rule returns the rule for a URL, nil if a plain GET is enough.
func (p *accessPolicy) rule(url string) *rule {
	for i := range p.rules {
		if p.rules[i].match.MatchString(url) {
			return &p.rules[i]
		}
	}
	return nil
}
