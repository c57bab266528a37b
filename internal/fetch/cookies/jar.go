package cookies

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"seine/internal/base/weburl"
)

// Limits of a jar. RFC 6265 6.1 asks for at least 50 cookies per domain.
const (
	maxPerDomain = 50
	maxPerJar    = 200 // for a registrable domain with all its subdomains
)

// jar has the cookies of a registrable domain and its subdomains.
type jar struct {
	cookies []*cookie
	clock   uint64 // counts creations and uses
}

// site is the part of a request that determines its cookies.
type site struct {
	host   string // without port, as cookies ignore ports
	path   string // without query
	secure bool
}

func siteOf(canonical string) site {
	path, _, _ := strings.Cut(weburl.Path(canonical), "?")
	return site{host: weburl.Hostname(canonical), path: path, secure: strings.HasPrefix(canonical, "https:")}
}

// defaultPath returns the path of cookies that name none (RFC 6265 5.1.4).
func (s site) defaultPath() string {
	if i := strings.LastIndexByte(s.path, '/'); i > 0 {
		return s.path[:i]
	}
	return "/"
}

// set stores a cookie of a response, or ignores it (RFC 6265 5.3).
func (j *jar) set(s site, f field, now time.Time) {
	c := &cookie{name: f.name, value: f.value, domain: s.host, hostOnly: true, path: f.path, secure: f.secure, expires: f.expires}
	if c.path == "" {
		c.path = s.defaultPath()
	}
	if f.domain != "" && !(f.domain == s.host && isPublicSuffix(s.host)) {
		if isPublicSuffix(f.domain) || !domainMatch(s.host, f.domain) {
			return
		}
		c.domain, c.hostOnly = f.domain, false
	}
	if c.secure && !s.secure || !c.keepsPrefix() || !s.secure && j.shadowsSecure(c) {
		return
	}
	j.clock++
	c.created, c.used = j.clock, j.clock
	if i := slices.IndexFunc(j.cookies, c.replaces); i >= 0 {
		c.created = j.cookies[i].created
		j.cookies = slices.Delete(j.cookies, i, i+1)
	}
	j.cookies = append(j.cookies, c)
	j.evict(c.domain, now)
}

// replaces reports whether c replaces o.
func (c *cookie) replaces(o *cookie) bool {
	return c.name == o.name && c.domain == o.domain && c.path == o.path
}

// keepsPrefix reports whether the cookie satisfies the prefix of its name.
func (c *cookie) keepsPrefix() bool {
	switch name := strings.ToLower(c.name); {
	case strings.HasPrefix(name, "__host-"):
		return c.secure && c.hostOnly && c.path == "/"
	case strings.HasPrefix(name, "__secure-"):
		return c.secure
	}
	return true
}

// shadowsSecure reports whether c, which came without encryption, would replace a secure cookie: an
// attacker on the network could have set it.
func (j *jar) shadowsSecure(c *cookie) bool {
	return slices.ContainsFunc(j.cookies, func(o *cookie) bool {
		return o.secure && o.name == c.name && (domainMatch(o.domain, c.domain) || domainMatch(c.domain, o.domain)) && pathMatch(c.path, o.path)
	})
}

// evict removes expired cookies. It then removes the least recently used cookie of a domain that
// has too many, and of the jar.
func (j *jar) evict(domain string, now time.Time) {
	j.cookies = slices.DeleteFunc(j.cookies, func(c *cookie) bool { return c.expired(now) })
	j.evictOldest(maxPerDomain, func(c *cookie) bool { return c.domain == domain })
	j.evictOldest(maxPerJar, func(*cookie) bool { return true })
}

func (j *jar) evictOldest(most int, of func(*cookie) bool) {
	n, oldest := 0, -1
	for i, c := range j.cookies {
		if !of(c) {
			continue
		}
		if n++; oldest < 0 || c.used < j.cookies[oldest].used {
			oldest = i
		}
	}
	if n > most { // one suffices, as every addition calls evict
		j.cookies = slices.Delete(j.cookies, oldest, oldest+1)
	}
}

func (c *cookie) expired(now time.Time) bool { return !c.expires.IsZero() && !c.expires.After(now) }

// header returns the Cookie field of a request, "" if there is none (RFC 6265 5.4).
func (j *jar) header(s site, now time.Time) string {
	var sent []*cookie
	for _, c := range j.cookies {
		if !c.expired(now) && c.goesTo(s) {
			sent = append(sent, c)
		}
	}
	slices.SortFunc(sent, func(a, b *cookie) int {
		return cmp.Or(cmp.Compare(len(b.path), len(a.path)), cmp.Compare(a.created, b.created))
	})
	j.clock++
	pairs := make([]string, len(sent))
	for i, c := range sent {
		c.used = j.clock
		pairs[i] = c.name + "=" + c.value
	}
	return strings.Join(pairs, "; ")
}

func (c *cookie) goesTo(s site) bool {
	if c.secure && !s.secure || !pathMatch(s.path, c.path) {
		return false
	}
	return s.host == c.domain || !c.hostOnly && domainMatch(s.host, c.domain)
}

// bytes returns the approximate memory of the cookies.
func (j *jar) bytes() int {
	n := 256
	for _, c := range j.cookies {
		n += 160 + len(c.name) + len(c.value) + len(c.domain) + len(c.path)
	}
	return n
}

// domainMatch reports whether a host is the domain or a subdomain of it (RFC 6265 5.1.3).
func domainMatch(host, domain string) bool {
	if host == domain {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	return strings.HasSuffix(host, "."+domain)
}

// pathMatch reports whether a path is a cookie's path or below it (RFC 6265 5.1.4).
func pathMatch(path, of string) bool {
	rest, ok := strings.CutPrefix(path, of)
	return ok && (rest == "" || strings.HasSuffix(of, "/") || rest[0] == '/')
}

// isPublicSuffix reports whether independent parties share a domain, so that no cookie may apply to
// all of it.
func isPublicSuffix(domain string) bool {
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}
