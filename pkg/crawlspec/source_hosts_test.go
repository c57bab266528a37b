package crawlspec

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"seine/internal/base/weburl"
)

// Politeness depends on the host name, request settings on the origin. Credentials go only to named
// origins: a bare name means https at its default port.
func TestHostsOfASource(t *testing.T) {
	for _, c := range []struct {
		entry, url                string
		matches, applies, trusted bool
	}{
		{"a.test", "https://a.test/", true, true, true},
		{"a.test", "http://a.test/", true, true, false},
		{"a.test", "https://a.test:8443/", true, true, false},
		{"a.test", "http://a.test:443/", true, true, false},
		{"a.test", "https://www.a.test/", false, false, false},
		{"a.test", "https://a.test.evil.test/", false, false, false},
		{"*.a.test", "https://a.test/", true, true, true},
		{"*.a.test", "https://b.c.a.test/x?y", true, true, true},
		{"*.a.test", "http://b.a.test/", true, true, false},
		{"*.a.test", "https://ba.test/", false, false, false},
		{"http://a.test", "http://a.test/", false, true, true},
		{"http://a.test", "https://a.test/", false, false, false},
		{"http://a.test", "http://a.test:8080/", false, false, false},
		{"http://a.test:8080", "http://a.test:8080/x", false, true, true},
		{"http://a.test:8080", "http://a.test/", false, false, false},
		{"http://a.test:8080", "https://a.test:8080/", false, false, false},
		{"https://a.test", "https://a.test/", false, true, true},
		{"https://a.test:8443", "https://a.test:8443/", false, true, true},
		{"https://*.a.test:8443", "https://b.a.test:8443/", false, true, true},
		{"https://*.a.test:8443", "https://b.a.test/", false, false, false},
		{"2001:db8::1", "https://[2001:db8::1]/", true, true, true},
		{"2001:db8::1", "http://[2001:db8::1]/", true, true, false},
		{"http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080/", false, true, true},
		{"http://[2001:db8::1]:8080", "http://[2001:db8::1]/", false, false, false},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080/", false, true, true},
	} {
		src := HostRule{Hosts: []string{c.entry}}
		if err := checkHostEntry(c.entry); err != nil {
			t.Error(err)
		}
		if got := src.Matches(weburl.Hostname(c.url)); got != c.matches {
			t.Errorf("%s matches the host of %s: %t", c.entry, c.url, got)
		}
		if got := src.AppliesTo(c.url); got != c.applies {
			t.Errorf("%s applies to %s: %t", c.entry, c.url, got)
		}
		if got := src.Trusts(c.url); got != c.trusted {
			t.Errorf("%s trusts %s: %t", c.entry, c.url, got)
		}
	}
}

func TestBadHostsOfASource(t *testing.T) {
	for entry, want := range map[string]string{
		"a.test:8080":           `write "a.test" for all ports of the host; for headers and credentials of that port, "http://a.test:8080" or "https://a.test:8080"`,
		"ftp://a.test":          `the scheme must be http or https`,
		"https://a.test/":       `must be an origin without a path, as in "http://example.org:8080"`,
		"https://a.test/x":      "without a path",
		"https://me@a.test":     "without a path",
		"https://a.test:443":    `write "https://a.test"`,
		"http://A.test":         `write "http://a.test"`,
		"http://*.A.test:8080":  `write "http://*.a.test:8080"`,
		"http://":               "must be an origin",
		"https://a.test:banana": "must be an origin",
		"https://*.*.a.test":    `write "https://*.a.test"`,
		"A.test":                `write "a.test"`,
	} {
		err := checkHostEntry(entry)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `"`) {
			t.Errorf("%s: %v, want in it %s", entry, err, want)
		}
	}
}

// Rate, state and limits apply to all ports of a host. A source with an origin may set them only if
// it also has the host's name.
func TestKeysOfAHostNeedItsName(t *testing.T) {
	for source, want := range map[string]string{
		`{hosts: ["http://a.test:8080"], delay: 1s}`:                      `sources[0].hosts[0]: "http://a.test:8080" is one port, and delay applies to all ports of a host: add "a.test" to hosts`,
		`{hosts: [a.test, "https://b.test"], state: paused}`:              `sources[0].hosts[1]: "https://b.test" is one port, and state applies to all ports of a host: add "b.test" to hosts`,
		`{hosts: ["http://[2001:db8::1]"], on_status: {5xx: {wait: 1m}}}`: `and on_status applies to all ports of a host: add "2001:db8::1" to hosts`,
		`{hosts: [a.test, "http://*.a.test"], max_attempts: 2}`:           `add "*.a.test" to hosts`,
		`{hosts: ["http://a.test:8080"], headers: {X: y}, cookies: true}`: "",
		`{hosts: ["*.a.test", "http://b.a.test:8080"], delay: 0s}`:        "",
		`{hosts: ["*.a.test", "http://*.a.test:8080"], state: running}`:   "",
		`{hosts: [a.test], delay: 1s, auth: {bearer: "{secret:KEY}"}}`:    "",
	} {
		_, err := parseSpec([]byte("sources: [" + source + "]"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

// Where a source withholds its credentials from an origin, the crawl's own headers apply.
func TestAccessWithoutCredentials(t *testing.T) {
	s, err := parseSpec([]byte(`
headers: {X-Open: all, Cookie: consent=1}
sources:
  - hosts: ["http://a.test:8080"]
    auth: {bearer: "{secret:DEV}"}
  - hosts: [a.test]
    auth: {bearer: "{secret:LIVE}"}
    headers: {X-Key: "k {secret:LIVE}", Cookie: id=1, X-Own: a}
    cookies: true
`))
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]struct {
		source int
		bearer string
		header map[string]string
	}{
		"https://a.test/":     {1, "{secret:LIVE}", map[string]string{"X-Open": "all", "X-Key": "k {secret:LIVE}", "Cookie": "id=1", "X-Own": "a"}},
		"http://a.test/":      {1, "", map[string]string{"X-Open": "all", "Cookie": "consent=1", "X-Own": "a"}},
		"http://a.test:8080/": {0, "{secret:DEV}", map[string]string{"X-Open": "all", "Cookie": "consent=1"}},
		"https://b.test/":     {-1, "", map[string]string{"X-Open": "all", "Cookie": "consent=1"}},
	} {
		i := s.AccessSource(url)
		if i != want.source {
			t.Errorf("%s is of source %d, want %d", url, i, want.source)
			continue
		}
		a := s.AccessOf(i, i >= 0 && s.Sources[i].Trusts(url))
		bearer := ""
		if a.Auth != nil {
			bearer = a.Auth.Bearer
		}
		if bearer != want.bearer || !maps.Equal(a.Headers, want.header) {
			t.Errorf("%s: bearer %q, headers %v; want %q, %v", url, bearer, a.Headers, want.bearer, want.header)
		}
	}
	if got := s.Sources[1].Credentials(); !slices.Equal(got, []string{"auth", "Cookie", "X-Key"}) {
		t.Errorf("credentials %q", got)
	}
}

// A paused host keeps its origins and their keys: its credentials go nowhere else.
func TestSetStateKeepsOrigins(t *testing.T) {
	s := Default()
	s.Sources = []HostRule{
		{Hosts: []string{"http://www.a.test"}, Access: Access{Headers: map[string]string{"X": "1"}}},
		{Hosts: []string{"*.a.test", "https://*.a.test:8443", "b.test"}},
	}
	if err := s.SetState("www.a.test", Paused); err != nil {
		t.Fatal(err)
	}
	if want := []string{"www.a.test", "https://www.a.test:8443"}; !slices.Equal(s.Sources[1].Hosts, want) {
		t.Errorf("hosts %q, want %q", s.Sources[1].Hosts, want)
	}
	if got := s.AccessSource("http://www.a.test/"); got != 0 {
		t.Errorf("the origin is of source %d", got)
	}
	if err := s.SetState("www.a.test", Running); err != nil || len(s.Sources) != 2 { // what the pause had added is gone
		t.Errorf("%d sources, %v", len(s.Sources), err)
	}
	s.Sources = s.Sources[:1]
	if err := s.SetState("www.a.test", Paused); err != nil || s.AccessSource("http://www.a.test/") != 0 {
		t.Errorf("sources %v, %v", s.Sources, err)
	}
}
