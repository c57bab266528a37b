package weburl

import "testing"

func TestDomain(t *testing.T) {
	for hostname, want := range map[string]string{
		"example.org":            "example.org",
		"www.example.org":        "example.org",
		"a.b.www.example.co.uk":  "example.co.uk",
		"example.co.uk":          "example.co.uk",
		"me.github.io":           "me.github.io", // private section
		"x.me.github.io":         "me.github.io",
		"www.city.kawasaki.jp":   "city.kawasaki.jp", // exception rule
		"www.a.b.ck":             "a.b.ck",           // wildcard rule
		"www.xn--bcher-kva.de":   "xn--bcher-kva.de",
		"shop.example.unlisted":  "example.unlisted",
		"shop.example.unlisted9": "example.unlisted9",
		"co.uk":                  "co.uk", // public suffixes
		"github.io":              "github.io",
		"org":                    "org",
		"localhost":              "localhost",
		"":                       "",
		".":                      ".",
		"a..b":                   "a..b",
		"192.0.2.1":              "192.0.2.1",
		"2001:db8::1":            "2001:db8::1",
		"::ffff:192.0.2.1":       "::ffff:192.0.2.1",
	} {
		if got := Domain(hostname); got != want {
			t.Errorf("Domain(%q) = %q, want %q", hostname, got, want)
		}
	}
}
