package httpclient

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
)

// Policy is a spec as the client needs it: what is sent for each URL, and by which
// way.
type Policy struct {
	spec    *crawlspec.Spec // each revision has its own
	others  *profile
	sources []sourceProfiles
	rules   []rule
	guard   string            // which addresses may be dialled, as a key
	hidden  *redactor         // nil if the spec has no secrets
	login   map[string]string // secrets of the spec's login
	// loginErr is the failure of a login of which one is missing.
	loginErr error
	until    time.Time // it may have what is missing now; zero if nothing is
}

// sourceProfiles are how the URLs of one source are asked for.
type sourceProfiles struct {
	trusted *profile
	others  *profile // of origins that must not see the credentials
}

// profile is how the URLs of one source are asked for, and over which connections: an Access
// of the spec, ready for use.
type profile struct {
	headers []http.Header // complete, one for each user agent; only read
	next    atomic.Uint32 // user agent
	private []string      // names of fields that must not be stored
	// withheld names the credentials that are not sent, because the source does
	// not trust the origin; nil is none.
	withheld  []string
	accepts   accepts
	cookies   bool
	transport transportKey // without a proxy
	proxies   []*proxy     // none is direct
	turn      atomic.Uint32
	err       error // a failure: the spec asks for what this client does not have
}

// access is how one URL is requested. Nothing of it outlives the URL: the next
// one may be of another source.
type access struct {
	profile *profile
	shape   *renderedRequest // nil is a plain GET
	cookie  string           // those of the site, "" is none
	hidden  *redactor        // takes the secrets out of what comes
}

// access works out how a canonical URL is requested. Every request that leaves
// passes through here: credentials, headers, cookies, TLS and proxies follow the
// URL that is requested, never the one that led to it. A robots.txt is always a
// plain GET. The error is a failure: a secret or a parameter is missing.
func (p *Policy) access(url string, robots bool) (access, error) {
	a := access{profile: p.profile(url), hidden: p.hidden}
	if a.profile.err != nil || robots {
		return a, a.profile.err
	}
	var err error
	if r := p.rule(url); r != nil {
		a.shape, err = r.render(url)
	}
	return a, err
}

// Current reports whether the policy need not be compiled again to find what was missing.
func (p *Policy) Current() bool { return p.until.IsZero() || time.Now().Before(p.until) }

// Lacks returns the failure of a URL for which the spec asks for what this client or the
// URL does not have, nil if it can be requested.
func (p *Policy) Lacks(url string) *Failure {
	if _, err := p.access(url, false); err != nil {
		return misfit(err)
	}
	return nil
}

// Withheld says which credentials are not sent to a URL, and what to do about it; "" if
// none are held back.
func (p *Policy) Withheld(url string) string { return p.profile(url).withheldFrom(url) }

// KeepsCookies reports whether the cookies of a URL are kept, and sent back.
func (p *Policy) KeepsCookies(url string) bool { return p.profile(url).cookies }

// Redact takes the parameters that hold secrets of the spec from a canonical URL.
func (p *Policy) Redact(url string) string { return p.hidden.url(url) }

// GuardKey tells apart which addresses may be dialled: "" are those that every crawl may
// dial.
func (p *Policy) GuardKey() string { return p.guard }

// profile returns how a canonical URL is asked for.
func (p *Policy) profile(url string) *profile {
	i := p.spec.AccessSource(url)
	switch {
	case i < 0:
		return p.others
	case p.spec.Sources[i].Trusts(url):
		return p.sources[i].trusted
	}
	return p.sources[i].others
}

// rule returns the rule for a URL, nil if a plain GET is enough.
func (p *Policy) rule(url string) *rule {
	for i := range p.rules {
		if p.rules[i].match.MatchString(url) {
			return &p.rules[i]
		}
	}
	return nil
}

// withheldFrom says which credentials are not sent to a URL, and what to do about it.
func (m *profile) withheldFrom(url string) string {
	if m.withheld == nil {
		return ""
	}
	origin := weburl.Origin(url)
	inClear := ""
	if strings.HasPrefix(origin, "http:") {
		inClear = ", in the clear"
	}
	return fmt.Sprintf("%s of the source is not sent to %s: add %q to its hosts to have it sent there%s",
		strings.Join(m.withheld, ", "), origin, origin, inClear)
}

// method is how the request is made.
func (a *access) method() string {
	if a.shape != nil {
		return a.shape.method
	}
	return http.MethodGet
}
