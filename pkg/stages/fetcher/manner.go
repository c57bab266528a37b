package fetcher

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	cookies bool
	way     way      // without a proxy
	proxies []*proxy // none is direct
	turn    atomic.Uint32
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
}

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
	secrets secrets
	byCrawl sync.Map // name → *plan
}

// of returns the plan for a spec of a crawl. An error is a failure: the spec
// asks for what this fetcher does not have. It is looked for again each time.
func (c *plans) of(crawl string, spec stages.Revised) (*plan, error) {
	if v, ok := c.byCrawl.Load(crawl); ok {
		if p := v.(*plan); p.spec == spec.Spec {
			return p, nil
		}
	}
	p, err := c.compile(spec.Spec)
	if err != nil {
		return nil, err
	}
	c.byCrawl.Store(crawl, p)
	return p, nil
}

func (c *plans) compile(spec *messages.Spec) (p *plan, err error) {
	p = &plan{spec: spec}
	if p.others, err = c.manner(spec, -1); err != nil {
		return nil, err
	}
	for i := range spec.Sources {
		m, err := c.manner(spec, i)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, m)
	}
	for i := range spec.Requests {
		r, err := c.rule(&spec.Requests[i])
		if err != nil {
			return nil, err
		}
		p.rules = append(p.rules, r)
	}
	return p, nil
}

func (c *plans) manner(spec *messages.Spec, source int) (*manner, error) {
	a := spec.AccessOf(source)
	m := &manner{source: source, cookies: a.Cookies != nil && *a.Cookies, way: wayOf(spec, a.TLS)}
	agents := a.UserAgents
	if len(agents) == 0 {
		agents = []string{spec.Agent()}
	}
	fixed := http.Header{"Accept": {c.client.accepts.header()}, "Accept-Encoding": {coding.Accept}}
	private, err := c.addHeaders(fixed, a.Headers)
	if err != nil {
		return nil, err
	}
	m.private = private
	if a.Auth != nil {
		value, err := c.authorization(a.Auth)
		if err != nil {
			return nil, err
		}
		fixed["Authorization"] = []string{value}
		m.private = append(m.private, "Authorization")
	}
	for _, agent := range agents {
		h := maps.Clone(fixed)
		h["User-Agent"] = []string{agent}
		m.headers = append(m.headers, h)
	}
	for _, text := range a.Proxies {
		px, err := c.client.ways.proxy(text, c.secrets)
		if err != nil {
			return nil, err
		}
		m.proxies = append(m.proxies, px)
	}
	return m, nil
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
	secrets secrets
}

var errNoPattern = errors.New("a request rule has no pattern")

func (c *plans) rule(r *messages.RequestRule) (rule, error) {
	re, err := messages.CompilePattern(r.Match)
	if err != nil {
		return rule{}, errors.Join(errNoPattern, err) // Validate has seen to it
	}
	out := rule{RequestRule: r, match: re, header: r.Headers, secrets: c.secrets}
	for name, value := range r.Headers {
		if strings.Contains(value, "{secret:") {
			out.private = append(out.private, name)
		}
	}
	return out, nil
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
