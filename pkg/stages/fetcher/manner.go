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

	"seine/internal/coding"
	"seine/internal/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// manner is how the hosts of one source are asked, and by which way: an Access
// of the spec, ready for use.
type manner struct {
	source  int           // of the spec, -1 is all other hosts
	headers []http.Header // complete, one for each user agent; only read
	next    atomic.Uint32 // user agent
	private []string      // names of fields that must not be stored
	accepts accepts
	cookies bool
	way     way      // without a proxy
	proxies []*proxy // none is direct
	turn    atomic.Uint32
	err     error // a failure: the spec asks for what this fetcher does not have
}

// header returns the fields that every request has, for reading only. User
// agents take turns.
func (m *manner) header() http.Header {
	if len(m.headers) == 1 {
		return m.headers[0]
	}
	return m.headers[int(m.next.Add(1)-1)%len(m.headers)]
}

// plan is a spec as the fetcher needs it.
type plan struct {
	spec    *messages.Spec // each revision has its own
	others  *manner
	sources []*manner
	rules   []rule
	until   time.Time // it may have what is missing now; zero if nothing is
}

// missingAge is after how long a fetcher looks again for what it lacked.
const missingAge = 5 * time.Second

// manner returns how the host of a URL is asked.
func (p *plan) manner(url string) *manner {
	if len(p.sources) == 0 {
		return p.others
	}
	if i := p.spec.SourceOf(weburl.Hostname(url)); i >= 0 {
		return p.sources[i]
	}
	return p.others
}

// plans keeps the plan of each crawl.
type plans struct {
	client  *client
	secrets known
	byCrawl sync.Map // name → *plan
}

// of returns the plan for a spec of a crawl.
func (c *plans) of(crawl string, spec stages.Revised) *plan {
	if v, ok := c.byCrawl.Load(crawl); ok {
		if p := v.(*plan); p.spec == spec.Spec && (p.until.IsZero() || time.Now().Before(p.until)) {
			return p
		}
	}
	p := c.compile(spec.Spec)
	c.byCrawl.Store(crawl, p)
	return p
}

func (c *plans) compile(spec *messages.Spec) *plan {
	p := &plan{spec: spec, others: c.manner(spec, -1)}
	failed := p.others.err != nil
	for i := range spec.Sources {
		m := c.manner(spec, i)
		p.sources = append(p.sources, m)
		failed = failed || m.err != nil
	}
	for i := range spec.Requests {
		p.rules = append(p.rules, c.rule(&spec.Requests[i]))
	}
	if failed {
		p.until = time.Now().Add(missingAge)
	}
	return p
}

// manner makes that of a source; what is wrong with it concerns no other.
func (c *plans) manner(spec *messages.Spec, source int) *manner {
	a := spec.AccessOf(source)
	m := &manner{source: source, cookies: a.Cookies != nil && *a.Cookies, way: wayOf(spec, a.TLS)}
	m.err = c.fill(m, spec, &a)
	return m
}

// fill gives a manner what is looked up.
func (c *plans) fill(m *manner, spec *messages.Spec, a *messages.Access) (err error) {
	m.accepts = c.client.accepts.and(spec.Accepts())
	fixed := http.Header{"Accept": {m.accepts.header()}, "Accept-Encoding": {coding.Accept}}
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
func (c *plans) addHeaders(h http.Header, fields map[string]string) (private []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, err := c.secrets.fill(fields[name])
		if err != nil {
			return nil, err
		}
		if strings.Contains(fields[name], "{secret:") || strings.EqualFold(name, "Cookie") {
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

func (c *plans) authorization(a *messages.Auth) (string, error) {
	if a.Bearer != "" {
		token, err := c.secrets.fill(a.Bearer)
		return "Bearer " + token, err
	}
	password, err := c.secrets.fill(a.Password)
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(a.User+":"+password)), err
}

// rule is a RequestRule, compiled.
type rule struct {
	*messages.RequestRule
	match   *regexp.Regexp
	header  map[string]string // with its secrets, and places for parameters
	private []string
	secrets known
}

func (c *plans) rule(r *messages.RequestRule) rule {
	re, err := messages.CompilePattern(r.Match)
	if err != nil {
		panic(err) // the spec is valid
	}
	out := rule{RequestRule: r, match: re, header: r.Headers, secrets: c.secrets}
	for name, value := range r.Headers {
		if strings.Contains(value, "{secret:") {
			out.private = append(out.private, name)
		}
	}
	return out
}

// rule returns the rule for a URL, nil if a plain GET is enough.
func (p *plan) rule(url string) *rule {
	for i := range p.rules {
		if p.rules[i].match.MatchString(url) {
			return &p.rules[i]
		}
	}
	return nil
}
