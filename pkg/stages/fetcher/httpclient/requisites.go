package httpclient

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"

	"seine/internal/base/contentcoding"
	"seine/internal/base/truncate"
	"seine/internal/base/weburl"
	"seine/internal/render/pageproxy"
	"seine/pkg/messages"
)

// Requisites sends the requests of a browser that renders a page: for scripts, styles, data. It is
// safe for concurrent use.
type Requisites struct {
	c    *Client
	page *Request

	mu  sync.Mutex
	set map[string]bool // cookies set by responses, as name=value
}

// Requisites returns a transport for the requests of a browser that renders page. Each URL uses the
// connections of its own access profile, with their guard, TLS and proxies, at the rate of the
// process. The browser's requests are sent unchanged. If a URL has the page's own profile, the
// spec's headers and credentials are added, and cookies are shared, if the spec keeps any.
// Redirects are not followed, and bodies keep their content coding.
func (c *Client) Requisites(page *Request) *Requisites {
	return &Requisites{c: c, page: page, set: make(map[string]bool)}
}

// Answered records the cookies of a response that the browser receives.
func (r *Requisites) Answered(h http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, field := range h["Set-Cookie"] {
		r.set[cookiePair(field)] = true
	}
}

// GiveCookie keeps a cookie that the browser has for a URL, if cookies are shared and no response
// has set it: the latest cookies of responses are kept already.
func (r *Requisites) GiveCookie(url, field string) {
	r.mu.Lock()
	answered := r.set[cookiePair(field)]
	r.mu.Unlock()
	if !answered && r.sharesCookies(url, r.page.Policy.profile(url)) {
		r.c.cookies.Set(r.page.CookieJar, url, []string{field})
	}
}

// cookiePair returns the name and the value of a Set-Cookie field.
func cookiePair(field string) string {
	pair, _, _ := strings.Cut(field, ";")
	name, value, _ := strings.Cut(pair, "=")
	return strings.TrimSpace(name) + "=" + strings.TrimSpace(value)
}

// RequisiteURL returns the canonical URL of a browser's request.
func RequisiteURL(req *http.Request) (string, error) {
	return weburl.Canonicalize(req.URL.Scheme + "://" + req.URL.Host + req.URL.RequestURI())
}

// RoundTrip sends one request. The error for a refused address is a *netguard.RefusedError.
func (r *Requisites) RoundTrip(req *http.Request) (*http.Response, error) {
	url, err := RequisiteURL(req)
	if err != nil {
		return nil, err
	}
	acc, err := r.page.Policy.access(url, true)
	if err != nil {
		return nil, err
	}
	if err := r.c.pace.request(req.Context(), req.URL.Host, 0); err != nil {
		return nil, err
	}
	key := acc.profile.transport
	key.http1 = req.Header.Get("Upgrade") != "" // HTTP/2 has no upgrades
	if len(acc.profile.proxies) > 0 {
		p, err := acc.profile.proxy(req.Context())
		if err != nil {
			return nil, err
		}
		key.proxy = p.key
	}
	resp, err := r.c.pools.pool(key).send(req.Context(), r.prepare(req, url, acc.profile), withoutNotes)
	if err == nil && r.sharesCookies(url, acc.profile) {
		r.Answered(resp.Header)
		r.c.cookies.Set(r.page.CookieJar, url, resp.Header["Set-Cookie"])
	}
	return resp, err
}

// withoutNotes stops the recording on a connection that was used for an archived exchange.
var withoutNotes = &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
	if c, ok := info.Conn.(*conn); ok {
		c.begin(nil)
	}
}}

// prepare adds the spec's headers and cookies to a request, if its URL has the page's profile.
func (r *Requisites) prepare(req *http.Request, url string, m *profile) *http.Request {
	req = req.Clone(req.Context())
	if m != r.page.Policy.profile(r.page.URL) {
		return req
	}
	for name, values := range m.header() {
		if name != "Accept" && name != "Accept-Encoding" && fieldOf(req.Header, name) == "" {
			req.Header[name] = values
		}
	}
	if r.sharesCookies(url, m) {
		if all := joinCookies(req.Header.Get("Cookie"), r.c.cookies.Header(r.page.CookieJar, url)); all != "" {
			req.Header.Set("Cookie", all)
		}
	}
	return req
}

// sharesCookies reports whether the cookies of a URL are shared with the page's crawl.
func (r *Requisites) sharesCookies(url string, m *profile) bool {
	return m.cookies && m == r.page.Policy.profile(r.page.URL)
}

// joinCookies adds the kept cookies that the browser does not have.
func joinCookies(browser, kept string) string {
	all := browser
	for c := range strings.SplitSeq(kept, "; ") {
		name, _, _ := strings.Cut(c, "=")
		if c == "" || strings.HasPrefix(browser, name+"=") || strings.Contains(browser, "; "+name+"=") {
			continue
		}
		if all != "" {
			all += "; "
		}
		all += c
	}
	return all
}

// RequisiteReply returns an exchange of Requisites in the archive's form: written as HTTP/1.1,
// without cookies and credentials of the request, and without the secrets of the spec. It is nil if
// there was no response.
func (p *Policy) RequisiteReply(x *pageproxy.Exchange) *Reply {
	url, err := weburl.Canonicalize(x.URL)
	if err != nil || x.Status == 0 || x.Status == http.StatusSwitchingProtocols {
		return nil
	}
	asked := x.RequestHeader.Clone()
	asked.Del("Cookie")
	asked.Del("Authorization")
	asked.Set("Host", weburl.Host(url))
	r := &Reply{
		URL: p.hidden.text(p.Redact(url)), Class: messages.OK, Status: x.Status, Header: x.Header, ContentType: truncate.To(x.Header.Get("Content-Type"), messages.MaxText),
		Started: x.Started, Timings: messages.Timings{Total: messages.Millis(x.Duration)}, IP: x.Remote, Source: x.Remote, Protocol: x.Proto,
		Request: append(writeHead(x.Method+" "+weburl.Path(url)+" HTTP/1.1", asked), x.RequestBody...),
		Head:    writeHead(fmt.Sprintf("HTTP/1.1 %03d %s", x.Status, http.StatusText(x.Status)), x.Header),
		Body:    Body{Data: x.Body, Size: int64(len(x.Body))}, hidden: p.hidden,
	}
	if x.Truncated {
		r.Truncated = messages.TruncatedLength
	}
	p.hidden.exchange(r)
	p.hidden.requisite(r)
	return r
}

// maxRequisite bounds the decoded body of a requisite in which secrets are searched, in bytes.
const maxRequisite = 64 << 20

// requisite removes the secrets from the body of a requisite. It decodes the body for that, and
// drops one that cannot be decoded.
func (r *redactor) requisite(reply *Reply) {
	if !r.active() || len(reply.Body.Data) == 0 {
		return
	}
	names, err := contentcoding.Parse(reply.Header["Content-Encoding"])
	if err == nil && len(names) > 0 {
		z := contentcoding.NewReader(bytes.NewReader(reply.Body.Data), names, 0)
		reply.Body.Data, err = io.ReadAll(io.LimitReader(z, maxRequisite))
		_ = z.Close()
		reply.Header = reply.Header.Clone()
		reply.Header.Del("Content-Encoding")
		reply.Head = renamed(reply.Head, "Content-Encoding", "Content-Length")
	}
	if len(reply.Body.Data) == maxRequisite {
		reply.Truncated = messages.TruncatedLength
	}
	if err != nil {
		reply.Body.Data, reply.Truncated = nil, messages.TruncatedUnspecified
	}
	reply.Body.Data = []byte(r.text(string(reply.Body.Data)))
	reply.Body.Size = int64(len(reply.Body.Data))
}

// LoginSecrets returns the secrets of the spec's login, by their names in its script.
func (p *Policy) LoginSecrets() (map[string]string, error) { return p.login, p.loginErr }

// UserAgent returns the User-Agent for a URL; the first of several.
func (p *Policy) UserAgent(url string) string { return p.profile(url).headers[0].Get("User-Agent") }

// Hide removes the secrets of the spec from a text.
func (p *Policy) Hide(text []byte) []byte {
	if !p.hidden.active() {
		return text
	}
	return []byte(p.hidden.text(string(text)))
}
