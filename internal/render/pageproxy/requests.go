package pageproxy

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// serveClient serves a request on a connection to the port.
func (p *Proxy) serveClient(w http.ResponseWriter, r *http.Request) {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	if !c.visit.enter() {
		refuseOutside(w)
		return
	}
	defer c.visit.leave()
	switch {
	case r.Method == http.MethodConnect:
		p.openTunnel(w, r)
	case r.URL.Scheme != "http" && r.URL.Scheme != "https":
		answer(w, http.StatusForbidden, "this is an HTTP proxy: it takes absolute http and https URLs, and CONNECT")
	default:
		c.visit.serve(w, withURL(r, r.URL.Scheme, r.URL.Host))
	}
}

// serveTunnelled serves a request in a tunnel. A request for another host is an error of HTTP/2
// clients, which retry it on a separate connection. As an attack, it would be checked for one host
// and sent to another.
func (p *Proxy) serveTunnelled(w http.ResponseWriter, r *http.Request) {
	t := tunnelOf(r.Context())
	if !t.visit.enter() {
		refuseOutside(w)
		return
	}
	defer t.visit.leave()
	switch {
	case r.Method == http.MethodConnect || !strings.HasPrefix(r.RequestURI, "/"):
		answer(w, http.StatusBadRequest, "a request in a tunnel needs a path")
	case canonicalHost(t.scheme, r.Host) != t.host:
		answer(w, http.StatusMisdirectedRequest, "the tunnel leads to another host")
	default:
		t.visit.serve(w, withURL(r, t.scheme, t.host))
	}
}

// withURL gives a request its absolute URL, and changes nothing else.
func withURL(r *http.Request, scheme, host string) *http.Request {
	u := *r.URL
	u.Scheme, u.Host, u.User, u.Fragment, u.RawFragment = scheme, canonicalHost(scheme, host), nil, "", ""
	r.URL = &u
	return r
}

// canonicalHost returns a host in lower case, without the scheme's default port.
func canonicalHost(scheme, host string) string {
	if hostname, port, err := net.SplitHostPort(host); err == nil {
		return strings.ToLower(hostInURL(scheme, hostname, port))
	}
	return strings.ToLower(host)
}

// rawURL returns the URL as the client wrote it. The parsed URL may be spelled differently: it
// encodes characters that browsers do not, such as "|".
func rawURL(u *url.URL, requestURI string) string {
	return u.Scheme + "://" + u.Host + rawTarget(requestURI)
}

// rawTarget returns the path and the query of a request as the client wrote them.
func rawTarget(requestURI string) string {
	if _, rest, absolute := strings.Cut(requestURI, "://"); absolute && !strings.HasPrefix(requestURI, "/") {
		requestURI = rest[len(rest)-len(strings.TrimLeftFunc(rest, notPathOrQuery)):]
	}
	if !strings.HasPrefix(requestURI, "/") {
		requestURI = "/" + requestURI
	}
	return requestURI
}

func notPathOrQuery(r rune) bool { return r != '/' && r != '?' }
