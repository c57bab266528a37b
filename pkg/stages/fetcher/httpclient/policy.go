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

// Policy is a compiled spec: the request for each URL, and the connections to send it over.
type Policy struct {
	spec    *crawlspec.Spec // each revision has its own
	others  *profile
	sources []sourceProfiles
	rules   []rule
	guard   string            // key of the addresses that may be dialled
	hidden  *redactor         // nil if the spec has no secrets
	login   map[string]string // secrets of the spec's login
	// loginErr is the failure of a login with a missing secret.
	loginErr error
	until    time.Time // when to look again for missing secrets; zero if none is missing
}

// sourceProfiles are the profiles for the URLs of one source.
type sourceProfiles struct {
	trusted *profile
	others  *profile // for origins that must not receive the credentials
}

// profile is a compiled Access of the spec: how the URLs of one source are requested, and over
// which connections.
type profile struct {
	headers []http.Header // complete, one for each user agent; only read
	next    atomic.Uint32 // next user agent
	private []string      // names of fields that must not be stored
	// withheld names the credentials that are not sent, because the source does not trust the
	// origin; nil for none.
	withheld  []string
	accepts   accepts
	cookies   bool
	transport transportKey // without a proxy
	proxies   []*proxy     // none means direct
	turn      atomic.Uint32
	err       error // failure: the spec requires something that this client lacks
}

// access is how one URL is requested. It must not be reused for another URL, which may belong to
// another source.
type access struct {
	profile *profile
	shape   *renderedRequest // nil for a plain GET
	cookie  string           // kept cookies of the site, "" for none
	hidden  *redactor        // removes secrets from responses
}

// access returns how a canonical URL is requested. Every outgoing request passes through here:
// credentials, headers, cookies, TLS and proxies depend on the requested URL, never on the one that
// led to it. A robots.txt is always requested by a plain GET. The error is a failure: a secret or a
// parameter is missing.
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

// Current reports whether the policy need not be compiled again to look for missing secrets.
func (p *Policy) Current() bool { return p.until.IsZero() || time.Now().Before(p.until) }

// Lacks returns the failure of a URL for which the spec requires something that this client or the
// URL lacks, nil if it can be requested.
func (p *Policy) Lacks(url string) *Failure {
	if _, err := p.access(url, false); err != nil {
		return misfit(err)
	}
	return nil
}

// Withheld describes the credentials that are not sent to a URL, with the remedy; "" if all are
// sent.
func (p *Policy) Withheld(url string) string { return p.profile(url).withheldFrom(url) }

// KeepsCookies reports whether the cookies of a URL are kept and sent back.
func (p *Policy) KeepsCookies(url string) bool { return p.profile(url).cookies }

// Redact removes the parameters with secrets of the spec from a canonical URL.
func (p *Policy) Redact(url string) string { return p.hidden.url(url) }

// GuardKey identifies the set of addresses that may be dialled: "" is the set that every crawl may
// dial.
func (p *Policy) GuardKey() string { return p.guard }

// profile returns the profile of a canonical URL.
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

// rule returns the rule for a URL, nil for a plain GET.
func (p *Policy) rule(url string) *rule {
	for i := range p.rules {
		if p.rules[i].match.MatchString(url) {
			return &p.rules[i]
		}
	}
	return nil
}

// withheldFrom describes the credentials that are not sent to a URL, with the remedy.
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

// method returns the HTTP method of the request.
func (a *access) method() string {
	if a.shape != nil {
		return a.shape.method
	}
	return http.MethodGet
}
