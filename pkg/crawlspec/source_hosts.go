package crawlspec

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"seine/internal/base/weburl"
)

// hostEntry is one entry of HostRule.Hosts: "example.org" or "*.example.org" names hosts,
// "http://example.org:8080" an origin.
type hostEntry struct {
	scheme string // "" names hosts, whatever their scheme and port
	domain bool   // the name and all its subdomains
	name   string // of the host, without port and brackets
	port   string // with its colon, "" for the default port of the scheme
}

func parseHostEntry(entry string) (e hostEntry) {
	scheme, rest, ok := strings.Cut(entry, "://")
	if !ok {
		scheme, rest = "", entry
	}
	e.scheme = scheme
	e.name, e.domain = strings.CutPrefix(rest, "*.")
	if ok {
		// weburl splits URLs by position, so the path is required.
		host := weburl.Host(scheme + "://" + e.name + "/")
		if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
			host, e.port = host[:i], host[i:]
		}
		e.name = strings.Trim(host, "[]")
	}
	return e
}

// String returns the form that parseHostEntry accepts.
func (e hostEntry) String() string {
	name := e.name
	if e.scheme != "" && strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if e.domain {
		name = "*." + name
	}
	if e.scheme == "" {
		return name
	}
	return e.scheme + "://" + name + e.port
}

// namesHost reports whether the entry covers a host, given without its port.
func (e hostEntry) namesHost(host string) bool {
	if host == e.name {
		return true
	}
	before := len(host) - len(e.name) - 1
	return e.domain && before > 0 && host[before] == '.' && host[before+1:] == e.name
}

// appliesTo reports whether the entry's access applies to a canonical URL.
func (e hostEntry) appliesTo(url string) bool {
	return e.namesHost(weburl.Hostname(url)) && (e.scheme == "" || e.hasOrigin(url))
}

// trusts reports whether credentials may be sent to the origin of a canonical URL. A name alone is
// trusted only over https at the default port, where no third party can read the traffic and no
// other program of the host answers.
func (e hostEntry) trusts(url string) bool {
	if e.scheme == "" {
		e.scheme = "https"
	}
	return e.namesHost(weburl.Hostname(url)) && e.hasOrigin(url)
}

// hasOrigin reports whether a canonical URL has the entry's scheme and port.
func (e hostEntry) hasOrigin(url string) bool {
	scheme, rest, _ := strings.Cut(weburl.Origin(url), "://")
	port := ""
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		port = rest[i:]
	}
	return scheme == e.scheme && port == e.port
}

// Matches reports whether the source's politeness and state apply to a host, given without its
// port. Origins do not match: these keys apply to all ports of a host.
func (s *HostRule) Matches(host string) bool {
	return slices.ContainsFunc(s.Hosts, func(entry string) bool {
		e := parseHostEntry(entry)
		return e.scheme == "" && e.namesHost(host)
	})
}

// AppliesTo reports whether the source's Access applies to a canonical URL. An entry of Hosts with
// a scheme applies only to that origin.
func (s *HostRule) AppliesTo(url string) bool {
	return slices.ContainsFunc(s.Hosts, func(entry string) bool { return parseHostEntry(entry).appliesTo(url) })
}

// Trusts reports whether the credentials of the source may be sent to the origin of a canonical
// URL: https at its default port, unless Hosts names another origin, as in
// "http://example.org:8080".
func (s *HostRule) Trusts(url string) bool {
	return slices.ContainsFunc(s.Hosts, func(entry string) bool { return parseHostEntry(entry).trusts(url) })
}

// TrustedOrigins returns the origins that Trusts accepts, in the form of specs:
// "https://example.org", "http://*.example.org:8080".
func (s *HostRule) TrustedOrigins() []string {
	var origins []string
	for _, entry := range s.Hosts {
		e := parseHostEntry(entry)
		if e.scheme == "" {
			e.scheme = "https"
		}
		origins = append(origins, e.String())
	}
	return origins
}

// narrowedTo returns the entries of Hosts that cover a host, with its name in place of a domain.
// Their schemes and ports are kept.
func (s *HostRule) narrowedTo(host string) []string {
	var entries []string
	for _, entry := range s.Hosts {
		if e := parseHostEntry(entry); e.namesHost(host) {
			e.name, e.domain = host, false
			entries = append(entries, e.String())
		}
	}
	return slices.Compact(entries)
}

// checkHosts reports errors of Hosts, including an origin beside a key that applies to all ports of
// a host, unless Hosts also names that host.
func (s *HostRule) checkHosts(p *Problems, path string) {
	if len(s.Hosts) == 0 {
		p.Addf(path, "must name at least one")
	}
	key := s.hostKey()
	for i, entry := range s.Hosts {
		at := fmt.Sprintf("%s[%d]", path, i)
		if err := checkHostEntry(entry); err != nil {
			p.Add(at, err)
			continue
		}
		e := parseHostEntry(entry)
		named := slices.ContainsFunc(s.Hosts, func(other string) bool {
			o := parseHostEntry(other)
			return o.scheme == "" && o.namesHost(e.name) && (o.domain || !e.domain)
		})
		if e.scheme = ""; key != "" && !named {
			p.Addf(at, "%q is one port, and %s applies to all ports of a host: add %q to hosts", entry, key, e)
		}
	}
}

// hostKey returns the first key of the source that applies to hosts, unlike those of Access, which
// apply to origins; "" if it has none.
func (s *HostRule) hostKey() string {
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Name != "Hosts" && !field.Anonymous && !v.Field(i).IsZero() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

func checkHostEntry(entry string) error {
	scheme, rest, isOrigin := strings.Cut(entry, "://")
	switch {
	case !isOrigin:
		return checkHostOfSource(strings.TrimPrefix(entry, "*."))
	case scheme != "http" && scheme != "https":
		return fmt.Errorf("%q: the scheme must be http or https", entry)
	case strings.ContainsAny(rest, "/?#@ "):
		return fmt.Errorf(`%q: must be an origin without a path, as in "http://example.org:8080"`, entry)
	}
	name, domain := strings.CutPrefix(rest, "*.")
	canonical, err := weburl.Canonicalize(scheme + "://" + name + "/")
	if err != nil {
		return fmt.Errorf(`%q: must be an origin, as in "http://example.org:8080": %w`, entry, err)
	}
	right := parseHostEntry(weburl.Origin(canonical))
	right.domain = domain
	if right.String() != entry {
		return fmt.Errorf("%q: write %q", entry, right)
	}
	return nil
}

// checkHostOfSource suggests how to name an origin if the name has a port.
func checkHostOfSource(name string) error {
	host, port, ok := strings.Cut(name, ":")
	if _, err := strconv.ParseUint(port, 10, 16); ok && err == nil && host != "" {
		return fmt.Errorf("%q: write %q for all ports of the host; for headers and credentials of that port, \"http://%s\" or \"https://%s\"",
			name, host, name, name)
	}
	return checkHostName(name)
}
