package httpclient

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"

	"seine/internal/base/truncate"
	"seine/internal/base/weburl"
	"seine/internal/render/pageproxy"
	"seine/pkg/messages"
)

// requisites sends what a browser asks for to show a page: scripts, styles, data.
type requisites struct {
	c    *Client
	page *Request
}

// Requisites returns the way by which a browser may ask for what a page needs beside its document: over connections of its
// own access profile for each URL, with their guard, TLS and proxies, at the pace of the process. What the browser sends goes
// out as it is. To URLs that are asked for as the page itself is, headers and credentials of the spec are added, and cookies are
// shared, if the spec keeps any. Redirects are not followed, and bodies are left in the coding in which they came.
func (c *Client) Requisites(page *Request) http.RoundTripper { return &requisites{c, page} }

// RequisiteURL returns the canonical URL of what a browser asks for.
func RequisiteURL(req *http.Request) (string, error) {
	return weburl.Canonicalize(req.URL.Scheme + "://" + req.URL.Host + req.URL.RequestURI())
}

// RoundTrip sends one request. An address that may not be dialled is a *netguard.RefusedError.
func (q *requisites) RoundTrip(req *http.Request) (*http.Response, error) {
	url, err := RequisiteURL(req)
	if err != nil {
		return nil, err
	}
	acc, err := q.page.Policy.access(url, true)
	if err != nil {
		return nil, err
	}
	if err := q.c.pace.request(req.Context(), req.URL.Host, 0); err != nil {
		return nil, err
	}
	key := acc.profile.transport
	key.http1 = req.Header.Get("Upgrade") != "" // HTTP/2 has none
	if len(acc.profile.proxies) > 0 {
		p, err := acc.profile.proxy(req.Context())
		if err != nil {
			return nil, err
		}
		key.proxy = p.key
	}
	resp, err := q.send(q.prepare(req, url, acc.profile), q.c.pools.pool(key))
	if err == nil && q.sharesCookies(url, acc.profile) {
		q.c.cookies.Set(q.page.CookieJar, url, resp.Header["Set-Cookie"])
	}
	return resp, err
}

// send sends a request over the connections of a pool.
func (q *requisites) send(req *http.Request, p *pool) (*http.Response, error) {
	if by := p.dialer.proxy; by != nil && by.Scheme == "http" {
		if err := p.dialer.checkTarget(req.Context(), hostPort(req.URL)); err != nil {
			return nil, err
		}
		if req.URL.Scheme == "http" {
			absolute(req.URL)
		}
	}
	return p.RoundTrip(req.WithContext(withoutNotes(req.Context())))
}

// withoutNotes has a connection that was used for an archived exchange note nothing of this one.
func withoutNotes(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if c, ok := info.Conn.(*conn); ok {
			c.notes.Store(nil)
		}
	}})
}

// prepare adds what the spec has sent to a URL that is asked for as the page is.
func (q *requisites) prepare(req *http.Request, url string, m *profile) *http.Request {
	req = req.Clone(req.Context())
	if m != q.page.Policy.profile(q.page.URL) {
		return req
	}
	for name, values := range m.header() {
		if name != "Accept" && name != "Accept-Encoding" && fieldOf(req.Header, name) == "" {
			req.Header[name] = values
		}
	}
	if q.sharesCookies(url, m) {
		if all := joinCookies(req.Header.Get("Cookie"), q.c.cookies.Header(q.page.CookieJar, url)); all != "" {
			req.Header.Set("Cookie", all)
		}
	}
	return req
}

// sharesCookies reports whether the cookies of a URL are those of the page's crawl.
func (q *requisites) sharesCookies(url string, m *profile) bool {
	return m.cookies && m == q.page.Policy.profile(q.page.URL)
}

// joinCookies adds those cookies that are kept which the browser does not have.
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

// RequisiteReply returns an exchange of Requisites as one that an archive keeps: as HTTP/1.1 writes it, without cookies of the
// request, and without the secrets of the spec. It is nil where there was no response.
func (p *Policy) RequisiteReply(x *pageproxy.Exchange) *Reply {
	url, err := weburl.Canonicalize(x.URL)
	if err != nil || x.Status == 0 || x.Status == http.StatusSwitchingProtocols {
		return nil
	}
	asked := x.RequestHeader.Clone()
	asked.Del("Cookie")
	asked.Set("Host", weburl.Host(url))
	r := &Reply{
		URL: p.Redact(url), Class: messages.OK, Status: x.Status, Header: x.Header, ContentType: truncate.To(x.Header.Get("Content-Type"), messages.MaxText),
		Started: x.Started, Timings: messages.Timings{Total: messages.Millis(x.Duration)}, IP: x.Remote, Source: x.Remote, Protocol: x.Proto,
		Request: append(writeHead(x.Method+" "+weburl.Path(url)+" HTTP/1.1", asked), x.RequestBody...),
		Head:    writeHead(fmt.Sprintf("HTTP/1.1 %03d %s", x.Status, http.StatusText(x.Status)), x.Header),
		Body:    Body{Data: x.Body, Size: int64(len(x.Body))}, hidden: p.hidden,
	}
	if x.Truncated {
		r.Truncated = messages.TruncatedLength
	}
	p.hidden.exchange(r)
	return r
}

// UserAgent returns how the client presents itself to a URL; the first of several.
func (p *Policy) UserAgent(url string) string { return p.profile(url).headers[0].Get("User-Agent") }

// Hide takes the secrets of the spec from a text.
func (p *Policy) Hide(text []byte) []byte {
	if !p.hidden.active() {
		return text
	}
	return []byte(p.hidden.text(string(text)))
}
