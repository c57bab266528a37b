package crawlspec

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"seine/pkg/messages"
)

// Access says how the fetcher presents itself to a host, and by which way it
// goes there. A "{secret:NAME}" in a header, in Auth or in a proxy's password is
// replaced in the fetcher, from its own environment or files (Secrets), so that
// the secret itself is in no message and in no file.
type Access struct {
	// UserAgents, if there are any, take turns in the place of UserAgent. For
	// robots.txt the crawler's name is still that of UserAgent.
	UserAgents []string `json:"user_agents,omitempty"`
	// Headers are sent with every request. Those of a source go before those of
	// the crawl, and those of a request rule before both.
	Headers map[string]string `json:"headers,omitempty"`
	// Cookies are kept, within one fetcher, and sent back as RFC 6265 says.
	Cookies *bool `json:"cookies,omitempty"`
	// Auth are the credentials of a source. It and headers with secrets are sent only to the source's hosts over
	// https at the default port, and to the origins that the hosts name.
	Auth *Auth `json:"auth,omitempty"`
	// Proxies are used in turn; a proxy that fails is paused. Examples: "http://user:{secret:NAME}@host:3128"
	// and socks5://…. A SOCKS proxy receives an address that the fetcher has resolved and checked, an HTTP proxy
	// the host name.
	Proxies []string `json:"proxies,omitempty"`
	// TLS says otherwise than that a certificate must be valid.
	TLS *TLS `json:"tls,omitempty"`
}

// Auth are the credentials for a host: a name and a password (RFC 7617), or a bearer token (RFC 6750). Password
// and Bearer name secrets, as in "{secret:SHOP_PASSWORD}"; they never contain the secret itself.
type Auth struct {
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty"`
	Bearer   string `json:"bearer,omitempty"`
}

// TLS loosens or tightens the requirements for a host's TLS.
type TLS struct {
	// Insecure takes any certificate. What is fetched may then come from anybody.
	Insecure bool `json:"insecure,omitempty"`
	// CA is one or more certificates in PEM that are trusted beside the system's.
	CA string `json:"ca,omitempty"`
	// MinVersion is "1.0", "1.1", "1.2" (the default) or "1.3".
	MinVersion string `json:"min_version,omitempty"`
}

// TLSVersions are the values of TLS.MinVersion.
var TLSVersions = []string{"1.0", "1.1", "1.2", "1.3"}

// over returns base with the changes of a, the access of a source.
func (a Access) over(base Access) Access {
	headers := maps.Clone(base.Headers)
	if headers == nil {
		headers = a.Headers
	} else {
		maps.Copy(headers, a.Headers)
	}
	out := Access{
		UserAgents: a.UserAgents, Headers: headers, Cookies: cmp.Or(a.Cookies, base.Cookies),
		Auth: cmp.Or(a.Auth, base.Auth), Proxies: a.Proxies, TLS: cmp.Or(a.TLS, base.TLS),
	}
	if out.UserAgents == nil {
		out.UserAgents = base.UserAgents
	}
	if out.Proxies == nil {
		out.Proxies = base.Proxies
	}
	return out
}

// SourceOf returns the index of the source with the politeness of a host, given without its port;
// -1 if there is none.
func (s *Spec) SourceOf(host string) int {
	return slices.IndexFunc(s.Sources, func(src HostRule) bool { return src.Matches(host) })
}

// AccessSource returns the index of the source whose Access applies to a canonical URL, -1 if there
// is none. It is the first with an entry of Hosts for that URL.
func (s *Spec) AccessSource(url string) int {
	return slices.IndexFunc(s.Sources, func(src HostRule) bool { return src.AppliesTo(url) })
}

// AccessOf returns the access for the URLs of source i, and for all others if i is -1. For an
// origin that the source does not trust (HostRule.Trusts), it omits the source's credentials.
func (s *Spec) AccessOf(i int, trusted bool) Access {
	if i < 0 {
		return s.Access
	}
	a := s.Sources[i].Access
	if !trusted {
		a = a.withoutCredentials()
	}
	return a.over(s.Access)
}

// maxAccess bounds the total header fields and proxies of a spec. Each source also has those of the
// spec, so a short spec may have very many.
const maxAccess = 500_000

func (c specCheck) checkAccessSize(p *Problems) {
	const fields = 4 // that every request has
	for i, size := -1, 0; i < len(c.Sources); i++ {
		a := c.AccessOf(i, true)
		if size += max(1, len(a.UserAgents))*(len(a.Headers)+fields) + len(a.Proxies); size > maxAccess {
			p.Addf("sources", "they have over %d user agents, headers and proxies, with those of the spec that each has, too: write fewer", maxAccess)
			return
		}
	}
}

// Credentials returns the names of the parts of the access that are sent only to trusted origins:
// "auth", and the headers with a secret or with cookies, sorted.
func (a *Access) Credentials() []string {
	var names []string
	if a.Auth != nil {
		names = append(names, "auth")
	}
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		if IsCredential(name, a.Headers[name]) {
			names = append(names, name)
		}
	}
	return names
}

// IsCredential reports whether a header of the spec must not be stored and, if a source sets it, is
// sent only to trusted origins.
func IsCredential(name, value string) bool {
	return strings.Contains(value, "{secret:") || strings.EqualFold(name, "Cookie")
}

func (a Access) withoutCredentials() Access {
	a.Auth, a.Headers = nil, maps.Clone(a.Headers)
	maps.DeleteFunc(a.Headers, IsCredential)
	return a
}

// check reports errors of an access; prefix is the path before its keys. Values for one host need a
// source that names the host.
func (a *Access) check(p *Problems, prefix string, ofSource bool) {
	if a.Auth != nil && !ofSource {
		p.Addf(prefix+"auth", "set it in one of the sources, so that no other host receives it")
	}
	checkHeaders(p, prefix+"headers", a.Headers, ofSource)
	for i, agent := range a.UserAgents {
		if agent == "" || !printable(agent) {
			p.Addf(fmt.Sprintf("%suser_agents[%d]", prefix, i), "%q: must be printable ASCII, and not empty", messages.Clip(agent))
		}
	}
	for i, proxy := range a.Proxies {
		p.Add(fmt.Sprintf("%sproxies[%d]", prefix, i), checkProxy(proxy))
	}
	a.Auth.check(p, prefix+"auth")
	a.TLS.check(p, prefix+"tls")
}

// reserved are the fields that the fetcher itself sets, and the reasons or alternatives.
var reserved = map[string]string{
	"host": "it is the URL's", "user-agent": "write user_agent", "authorization": "write auth, in a source",
	"accept-encoding": "the fetcher names what it can undo", "content-length": "it is the body's",
	"transfer-encoding": "the fetcher sets it", "connection": "the fetcher sets it", "te": "the fetcher sets it",
	"trailer": "the fetcher sets it", "upgrade": "the fetcher sets it", "proxy-authorization": "write it into the proxy's URL",
	"if-none-match": "the frontier remembers it", "if-modified-since": "the frontier remembers it",
}

func checkHeaders(p *Problems, path string, headers map[string]string, secrets bool) {
	seen := make(map[string]string, len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lower, at := strings.ToLower(name), path+"."+name
		switch why, ok := reserved[lower]; {
		case ok:
			p.Addf(at, "cannot be set: %s", why)
		case !httpguts.ValidHeaderFieldName(name):
			p.Addf(path, "%q is not the name of a header", messages.Clip(name))
		case !httpguts.ValidHeaderFieldValue(headers[name]):
			p.Addf(at, "%q is not a value that a header can have", messages.Clip(headers[name]))
		case seen[lower] != "":
			p.Addf(at, "%s is the same header", seen[lower])
		}
		seen[lower] = name
		p.Add(at, checkSecrets(headers[name], secrets))
	}
}

func (a *Auth) check(p *Problems, path string) {
	switch {
	case a == nil:
		return
	case (a.User == "") == (a.Bearer == ""):
		p.Addf(path, "write user and password, or bearer")
	case strings.Contains(a.User, ":") || !printable(a.User):
		p.Addf(path+".user", "%q: must be printable ASCII without ':' (RFC 7617)", messages.Clip(a.User))
	}
	p.secretOnly(path+".password", a.Password)
	p.secretOnly(path+".bearer", a.Bearer)
}

func (t *TLS) check(p *Problems, path string) {
	if t == nil {
		return
	}
	if t.MinVersion != "" {
		p.oneOf(path+".min_version", t.MinVersion, TLSVersions)
	}
	if t.CA != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(t.CA)) {
		p.Addf(path+".ca", "contains no PEM certificate")
	}
}

// proxySchemes are the valid schemes of a proxy's URL.
var proxySchemes = []string{"http", "socks5"}

func checkProxy(text string) error {
	u, err := ParseProxy(text)
	if err != nil {
		return err
	}
	if password, ok := u.User.Password(); ok && password != secretIn(password) {
		return fmt.Errorf(`%s: write the name of a secret for the password, as in "{secret:NAME}"`, u.Redacted())
	}
	return nil
}

// ParseProxy parses the URL of a proxy. Its errors do not repeat a password.
func ParseProxy(text string) (*url.URL, error) {
	// A secret's braces and colon are not valid in a URL.
	u, err := url.Parse(secretPattern().ReplaceAllStringFunc(text, url.QueryEscape))
	if err != nil || u.Host == "" || u.Port() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("a proxy is written scheme://user:{secret:NAME}@host:port, user and password if it needs them")
	}
	if !slices.Contains(proxySchemes, u.Scheme) {
		return nil, fmt.Errorf("scheme %q: must be one of %s", u.Scheme, strings.Join(proxySchemes, ", "))
	}
	return u, nil
}

func (c specCheck) checkAddresses(p *Problems) {
	for i, a := range c.AllowAddresses {
		if a != a.Masked() {
			p.Addf(fmt.Sprintf("allow_addresses[%d]", i), "%s: write %s", a, a.Masked())
		}
	}
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
