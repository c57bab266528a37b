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

// request returns the request to send.
//
// A plain GET, for which the spec has no request rule, has the following header fields with
// HTTP/1.1, in this order. TestPlainGETHasExactlyTheseBytes (plain_get_test.go) compares the bytes.
// Its request line has the path and the query of the canonical URL (target describes the
// exceptions); for an http URL through an HTTP proxy, the whole URL (absolute, called by send in
// transport_pool.go).
//
//	Host             the host of the URL, with its port if that is not the scheme's default; net/http writes it from target
//	User-Agent       user_agent of the spec, by default "seine/VERSION (web crawler)", or "seine/VERSION (web crawler; +CONTACT)" if
//	                 the spec has a contact (Agent, crawlspec/spec.go); or the user_agents of the access in turn; fill (compile_policy.go)
//	Accept           the types of Config.Accept and of the spec, then "*/*;q=0.1" for others; by default
//	                 "text/html,application/xhtml+xml,text/plain,*/*;q=0.1"; commonHeader, accepts.header (accepts.go)
//	Accept-Encoding  "gzip, deflate, br, zstd"; commonHeader
//
// It has the following fields only if needed. Net/http sorts all fields after User-Agent by name:
//
//	Authorization                        auth of the access; fill
//	Cookie                               that of "headers", then the cookies that are kept for the URL, if the spec wants any
//	                                     (CookieFor, client.go): one field, joined by header
//	If-None-Match, If-Modified-Since     the frontier's validators from the last visit; header
//	fields in "headers" of the access    addHeaders (compile_policy.go), which can replace Accept
//	Proxy-Authorization                  for an HTTP proxy with a password: net/http adds it to the request of an http URL, at the
//	                                     end; for an https URL askTunnel (tunnel.go) sends it with CONNECT, and the site does not see it
//
// It has no other fields. Net/http does not add its own Accept-Encoding, since that is set (and
// DisableCompression, transport_pool.go); no Connection, since connections are kept; and neither
// Content-Length nor Transfer-Encoding, since there is no body (it finds that oneShotBody is
// empty). No Referer and no Accept-Language is sent unless "headers" has it.
//
// All fields that Seine sets are in the list reserved (crawlspec/access.go), which excludes them
// from "headers".
//
// A request rule of the spec sets the method, the URL, header fields and the body: x.shape, made by
// render (render_rule.go). Net/http then adds Content-Length. robots.txt is always requested by a
// plain GET (Request.Robots, exchange_input.go).
//
// With HTTP/2 the fields are the same, except that ":authority" replaces Host, the fields have no
// fixed order, and each cookie has its own Cookie field.
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

// absolute changes a URL of target so that it is sent in absolute form, as HTTP proxies require
// (RFC 9112 3.2.2).
func absolute(u *url.URL) {
	*u = url.URL{Scheme: u.Scheme, Host: u.Host, Opaque: "//" + u.Host + strings.TrimPrefix(u.RequestURI(), u.Scheme+"://"+u.Host)}
}

// hostPort returns the address of a URL.
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

// header returns the fields that every request has, which must not be modified. User agents are
// used in turn.
func (m *profile) header() http.Header {
	if len(m.headers) == 1 {
		return m.headers[0]
	}
	return m.headers[int(m.next.Add(1)-1)%len(m.headers)]
}

// commonHeader returns the fields that are common to all access profiles. compile_policy.go adds
// those of a profile: the User-Agent, and the fields and credentials of the spec.
func commonHeader(a accepts) http.Header {
	return http.Header{"Accept": {a.header()}, "Accept-Encoding": {contentcoding.Accept}}
}

// fieldOf returns the value of a field whatever its spelling, "" if there is none.
func fieldOf(h http.Header, name string) string {
	for spelt, values := range h {
		if strings.EqualFold(spelt, name) {
			return values[0]
		}
	}
	return ""
}

// target returns a URL that net/http sends exactly as it is. A canonical URL keeps characters that
// url.URL would encode, such as '|', and stray percent signs that it would refuse; Opaque is sent
// as it is. Only a path that starts with two slashes would be taken for a host there. Such a path
// goes into Path or, if that cannot hold it, is sent in absolute form, which every server must
// accept (RFC 9112 3.2.2).
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
