package weburl

import "strings"

// The functions of this file take a canonical URL and return a part of it, as a
// substring. For any other input the result is unspecified, though they do not
// panic.

// Origin returns the scheme, host and non-default port:
// "https://example.org:8443".
func Origin(u string) string {
	_, path := bounds(u)
	return u[:path]
}

// Host returns the host, with the port when it is not the default one:
// "example.org:8443", "[2001:db8::1]". It is the unit of politeness and of
// crawl scope.
func Host(u string) string {
	host, path := bounds(u)
	return u[host:path]
}

// Hostname returns the host without a port, and an IPv6 address without its
// brackets: what a resolver takes.
func Hostname(u string) string {
	host := Host(u)
	if i := strings.LastIndexByte(host, ']'); i > 0 {
		return host[1:i]
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		return host[:i]
	}
	return host
}

// Path returns the path and query, which start with "/": what is sent in the
// request line (RFC 9112 section 3.2.1).
func Path(u string) string {
	_, path := bounds(u)
	return CutRoute(u[path:])
}

// bounds returns where host and path of a canonical URL begin. No host is
// empty, so the path's slash is at least behind the length of "https://" in
// http URLs, too.
func bounds(u string) (host, path int) {
	const longest = len("https://")
	if len(u) <= longest {
		return 0, 0
	}
	host = longest
	if u[4] == ':' {
		host = len("http://")
	}
	if i := strings.IndexByte(u[longest:], '/'); i >= 0 {
		return host, longest + i
	}
	return host, len(u)
}
