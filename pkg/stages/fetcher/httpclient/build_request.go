package httpclient

import (
	"cmp"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"

	"seine/internal/base/contentcoding"
	"seine/internal/base/weburl"
)

// request is what is sent.
//
// A plain GET, for which the spec has no request rule, has the following header fields by HTTP/1.1,
// in this order. TestPlainGETHasExactlyTheseBytes (plain_get_test.go) compares the bytes. Its request line has the path and
// the query as they are in the canonical URL (target, which says when not); for an http URL by an HTTP proxy, the whole URL (absolute, which
// send in exchange.go calls).
//
//	Host             the host of the URL, with its port if that is not the scheme's own; net/http writes it from target
//	User-Agent       user_agent of the spec, by default "seine/VERSION (web crawler)", or "seine/VERSION (web crawler; +CONTACT)" if
//	                 the spec has a contact (Agent, crawlspec/spec.go); or the user_agents of the access in turn; fill (compile_policy.go)
//	Accept           the types of Config.Accept and of the spec, then "*/*;q=0.1" for others; by default
//	                 "text/html,application/xhtml+xml,text/plain,*/*;q=0.1"; commonHeader, accepts.header (accepts.go)
//	Accept-Encoding  "gzip, deflate, br, zstd"; commonHeader
//
// It has the following only if there is a reason for it. Net/http sorts all fields after User-Agent by
// their names:
//
//	Authorization                        auth of the access; fill
//	Cookie                               that of "headers", then the cookies that are kept for the URL, if the spec wants any
//	                                     (CookieFor, client.go): one field, joined by header
//	If-None-Match, If-Modified-Since     what the frontier remembers of the last visit; header
//	what "headers" of the access names   addHeaders (compile_policy.go), which can replace Accept
//	Proxy-Authorization                  for an HTTP proxy with a password: net/http adds it to the request of an http URL, at the
//	                                     end; for an https URL askTunnel (tunnel.go) sends it with CONNECT, and the site does not see it
//
// It has no other field. Net/http adds no Accept-Encoding of its own, as that is set (and
// DisableCompression, transport_pool.go); no Connection, as connections are kept; and neither
// Content-Length nor Transfer-Encoding, as there is no body (it finds that oneShotBody is empty). No
// Referer and no Accept-Language is sent unless "headers" has it.
//
// A field that Seine sets is in the list reserved (crawlspec/access.go), which keeps "headers" from it.
//
// A request rule of the spec gives the method, the URL, header fields and the body, x.shape, which render (render_rule.go) makes of it: net/http
// adds Content-Length then. robots.txt is always asked for by a plain GET
// (Request.Robots, exchange_input.go).
//
// By HTTP/2 the fields are the same, but ":authority" stands in the place of Host, the fields have no
// fixed order, and each cookie has a Cookie field of its own.
func (x *exchange) request() *http.Request {
	a := x.ask
	req := &http.Request{
		Method: http.MethodGet, URL: target(a.URL), Header: x.header(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if s := x.shape; s != nil {
		req.Method, req.URL = s.method, target(s.url)
		if s.body != "" {
			req.Body, req.ContentLength = io.NopCloser(strings.NewReader(s.body)), int64(len(s.body))
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s.body)), nil }
		}
	}
	if a.NoResend {
		req.GetBody = nil // without one, net/http does not repeat a request that has a body
		if req.Body == nil {
			req.Body = oneShotBody{}
		}
	}
	return req
}

// oneShotBody is an empty body that cannot be read again.
type oneShotBody struct{}

func (oneShotBody) Read([]byte) (int, error) { return 0, io.EOF }
func (oneShotBody) Close() error             { return nil }

// absolute has a URL of target sent in absolute form, as an HTTP proxy wants it
// (RFC 9112 3.2.2).
func absolute(u *url.URL) {
	*u = url.URL{Scheme: u.Scheme, Host: u.Host, Opaque: "//" + u.Host + strings.TrimPrefix(u.RequestURI(), u.Scheme+"://"+u.Host)}
}

// hostPort is the address that a URL leads to.
func hostPort(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), weburl.DefaultPort(u.Scheme)))
}

// header returns the header of the request.
func (x *exchange) header() http.Header {
	a := x.ask
	shared := x.profile.header()
	if !a.conditional() && x.shape == nil && x.cookie == "" {
		return shared
	}
	h := maps.Clone(shared)
	if a.ETag != "" {
		h["If-None-Match"] = []string{a.ETag}
	}
	if a.LastModified != "" {
		h["If-Modified-Since"] = []string{a.LastModified}
	}
	if x.shape != nil {
		for name, value := range x.shape.header {
			setField(h, name, value)
		}
	}
	if x.cookie != "" {
		all := x.cookie
		if own := fieldOf(h, "Cookie"); own != "" {
			all = own + "; " + all
		}
		setField(h, "Cookie", all)
	}
	return h
}

// header returns the fields that every request has, for reading only. User
// agents take turns.
func (m *profile) header() http.Header {
	if len(m.headers) == 1 {
		return m.headers[0]
	}
	return m.headers[int(m.next.Add(1)-1)%len(m.headers)]
}

// commonHeader returns the fields of every request but those of its access profile, which compile_policy.go adds: the
// User-Agent, and the fields and credentials that the spec asks for.
func commonHeader(a accepts) http.Header {
	return http.Header{"Accept": {a.header()}, "Accept-Encoding": {contentcoding.Accept}}
}

// fieldOf returns a field that may be spelt otherwise, "" if there is none.
func fieldOf(h http.Header, name string) string {
	for spelt, values := range h {
		if strings.EqualFold(spelt, name) {
			return values[0]
		}
	}
	return ""
}

// target returns a URL that net/http sends exactly as it is. A canonical URL
// keeps characters that url.URL would encode, such as '|', and stray percent
// signs that it would refuse; Opaque goes out as it is. Only a path that starts
// with two slashes would be taken for a host there: it goes into Path, or, if
// that cannot hold it, out in absolute form, which every server must take
// (RFC 9112 3.2.2).
func target(canonical string) *url.URL {
	scheme, _, _ := strings.Cut(canonical, ":")
	u := &url.URL{Scheme: scheme, Host: weburl.Host(canonical)}
	path := weburl.Path(canonical)
	if !strings.HasPrefix(path, "//") {
		u.Opaque = path
		return u
	}
	raw, query, _ := strings.Cut(path, "?")
	if decoded, err := url.PathUnescape(raw); err == nil {
		u.Path, u.RawPath, u.RawQuery = decoded, raw, query
		if u.RequestURI() == path {
			return u
		}
	}
	return &url.URL{Scheme: scheme, Host: u.Host, Opaque: "//" + u.Host + path}
}
