package crawlspec

import (
	"fmt"
	"strings"
	"testing"
)

// Errors in a spec name the key.
func TestBadAccess(t *testing.T) {
	const source = "sources:\n- hosts: [a.example]\n  "
	const rule = "requests:\n- match: "
	for text, want := range map[string]string{
		"contact: nobody":                                  "contact: \"nobody\": must be a URL or an e-mail address",
		"user_agents: ['']":                                "user_agents[0]: \"\"",
		"auth: {bearer: '{secret:T}'}":                     "auth: set it in one of the sources",
		"headers: {Host: a}":                               "headers.Host: cannot be set: it is the URL's",
		"headers: {User-Agent: a}":                         "write user_agent",
		"headers: {Authorization: a}":                      "write auth",
		"headers: {'a b': c}":                              "is not the name of a header",
		"headers: {a: \"b\\nc\"}":                          "is not a value that a header can have",
		"headers: {X-A: a, x-a: b}":                        "X-A is the same header",
		"headers: {X-A: '{secret:K}'}":                     "a secret may only be sent to hosts that are named",
		"proxies: [proxy.example]":                         "a proxy is written scheme://",
		"proxies: ['ftp://proxy.example:21']":              "must be one of http, socks5",
		"proxies: ['http://me:pw@proxy.example:1']":        "write the name of a secret for the password",
		"tls: {min_version: '2'}":                          "min_version: \"2\": must be one of 1.0",
		"tls: {ca: nonsense}":                              "contains no PEM certificate",
		"allow_addresses: [10.1.2.3/8]":                    "write 10.0.0.0/8",
		"allow_addresses: [here]":                          "here",
		source + "auth: {}":                                "write user and password, or bearer",
		source + "auth: {user: me, password: pw}":          "write the name of a secret",
		source + "auth: {user: 'a:b'}":                     "without ':'",
		source + "headers: {X-A: '{secret:a-b}'}":          "its name has letters, digits and '_'",
		rule + "''":                                        "requests[0].match",
		rule + "'*'\n  method: DELETE":                     "method: \"DELETE\": must be one of GET, POST",
		rule + "'*'\n  body: x":                            "a GET has none",
		rule + "'*'\n  query: {k: '{secret:K}'}":           "a secret may only be sent to hosts that are named",
		rule + "'https://*/a'\n  query: {k: '{secret:K}'}": "a secret may only be sent to hosts that are named",
		rule + "'*'\n  headers: {Host: a}":                 "headers.Host: cannot be set",
	} {
		_, err := parseSpec([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nsays %v\nwant %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "pw@") {
			t.Errorf("%s: the error tells the password: %v", text, err)
		}
	}
}

func TestTemplate(t *testing.T) {
	values := map[string]string{"q": "x", "a[]": "list"}
	for text, want := range map[string]string{
		"":                          "",
		"plain":                     "plain",
		`{"q": "{q}"}`:              `{"q": "x"}`,
		"{q}{q}":                    "xx",
		"{none|default}":            "default",
		"{none|}":                   "",
		"{a[]}":                     "list",
		"{ q }":                     "{ q }",
		"{}":                        "{}",
		`{"a": {"b": 1}}`:           `{"a": {"b": 1}}`,
		"{secret:K} {secret:q}":     "<K> <q>",
		"{q|has a default already}": "x",
	} {
		got, err := Template(text).Fill(func(p Placeholder) (string, error) {
			switch v, ok := values[p.Name]; {
			case p.Secret:
				return "<" + p.Name + ">", nil
			case ok:
				return v, nil
			}
			return p.Default, nil
		})
		if err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", text, got, err, want)
		}
	}
}

// The bound on the access of a spec includes the user agents and headers that each source inherits
// from it.
func TestAccessOfAllSourcesIsBounded(t *testing.T) {
	for _, c := range []struct {
		agents, headers, proxies, sources int
		ok                                bool
	}{
		{1000, 10, 1000, 20, true}, {50_000, 0, 25_000, 0, true}, {1, 1, 25_000, 15, true},
		{50_000, 0, 0, 20, false}, {1, 0, 25_000, 30, false}, {10_000, 1000, 0, 0, false}, {0, 1000, 0, 1000, false},
	} {
		s := Default()
		s.Headers = make(map[string]string)
		for i := range c.agents {
			s.UserAgents = append(s.UserAgents, fmt.Sprint("agent/", i))
		}
		for i := range c.headers {
			s.Headers[fmt.Sprint("X-", i)] = "v"
		}
		for i := range c.proxies {
			s.Proxies = append(s.Proxies, fmt.Sprint("http://proxy.example:", i+1))
		}
		for i := range c.sources {
			s.Sources = append(s.Sources, HostRule{Hosts: []string{fmt.Sprintf("h%d.example", i)}})
		}
		if err := s.Validate(); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "write fewer") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
