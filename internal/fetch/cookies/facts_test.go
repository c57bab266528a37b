package cookies

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fact is the behaviour of a user agent for Set-Cookie fields.
type fact struct {
	set  string // fields, separated by newlines
	sent string // Cookie of the next request
	from string // the URL that sets them; from and to default to those of the previous case
	to   string
}

// facts has the behaviour that RFC 6265, section 5, and the tests of its working group describe, in
// our own cases. The clock is at 2000-01-01.
var facts = map[string][]fact{
	"names and values": {
		{set: "a=b", sent: "a=b", from: "https://www.a.test/x/y", to: "https://www.a.test/x/z"},
		{set: "a=b\nz=y", sent: "a=b; z=y"},
		{set: "z=y\na=b", sent: "z=y; a=b"},
		{set: "a=b\na=c", sent: "a=c"},
		{set: "a=b\nz=y\na=c", sent: "a=c; z=y"}, // it keeps its age
		{set: "a"},
		{set: ""},
		{set: "="},
		{set: "=b"},
		{set: "; a=b"},
		{set: "a; b=c"},
		{set: "a=", sent: "a="},
		{set: " a = b ;", sent: "a=b"},
		{set: "\ta\t=\tb\t", sent: "a=b"},
		{set: "a===b", sent: "a===b"},
		{set: "a=b c", sent: "a=b c"},
		{set: `a="b"`, sent: `a="b"`},
		{set: `a="b c"`, sent: `a="b c"`},
		{set: `a="b;c"`, sent: `a="b`},
		{set: `a=b"c\d`, sent: `a=b"c\d`},
		{set: "a=b, c=d", sent: "a=b, c=d"},
		{set: "a=é", sent: "a=é"},
		{set: "é=\xe9", sent: "é=\xe9"},
		{set: "a b=c", sent: "a b=c"},
		{set: "$(@!=c", sent: "$(@!=c"},
		{set: "$Version=1; a=b", sent: "$Version=1"},
		{set: "a=b\x00c"},
		{set: "a=b\rc"},
		{set: "a=b\tc", sent: "a=b\tc"},
		{set: "a=b\x7f"},
		{set: "a=" + strings.Repeat("x", 4095), sent: "a=" + strings.Repeat("x", 4095)},
		{set: "a=" + strings.Repeat("x", 4096)},
	},
	"attributes": {
		{set: "a=b; Secure", sent: "a=b", from: "https://www.a.test/x/y", to: "https://www.a.test/x/z"},
		{set: "a=b; HttpOnly; unknown=1; ;;", sent: "a=b"},
		{set: "a=b; Secure", from: "https://www.a.test/x/y", to: "http://www.a.test/x/z"},
		{set: "a=b; sECURE=no"},
		{set: `a=b; "Secure"`, sent: "a=b"},
		{set: "a=b; Secure x", sent: "a=b"},
		{set: "a=b; Secure", from: "http://www.a.test/x/y", to: "https://www.a.test/x/z"},
		{set: "__Secure-a=b", from: "https://www.a.test/", to: "https://www.a.test/"},
		{set: "__Secure-a=b; Secure; Domain=a.test", sent: "__Secure-a=b"},
		{set: "__Host-a=b; Secure; Path=/", sent: "__Host-a=b"},
		{set: "__host-a=b; Secure; Path=/; Domain=www.a.test"},
		{set: "__Host-a=b; Secure; Path=/x"},
		{set: "__Host-a=b; Path=/"},
	},
	"ends": {
		{set: "a=b; Max-Age=1", sent: "a=b", from: "https://www.a.test/", to: "https://www.a.test/"},
		{set: "a=b; Max-Age=0"},
		{set: "a=b; Max-Age=-1"},
		{set: "a=b; Max-Age=-99999999999999999999"},
		{set: "a=b; Max-Age=99999999999999999999", sent: "a=b"},
		{set: "a=b; Max-Age=1,5", sent: "a=b"}, // invalid, so ignored
		{set: "a=b; Max-Age=", sent: "a=b"},
		{set: "a=b; Max-Age=+1", sent: "a=b"},
		{set: "a=b\nc=d\na=x; Max-Age=0", sent: "c=d"},
		{set: "a=b; Expires=Fri, 31 Dec 1999 23:59:59 GMT"},
		{set: "a=b; Expires=Sat, 01 Jan 2000 00:00:01 GMT", sent: "a=b"},
		{set: "a=b; Expires=soon", sent: "a=b"},
		{set: "a=b; Max-Age=9; Expires=Fri, 31 Dec 1999 23:59:59 GMT", sent: "a=b"}, // Max-Age takes precedence
		{set: "a=b; Expires=Sat, 01 Jan 2050 00:00:01 GMT; Max-Age=0"},
		{set: "a=b; Max-Age=0; Max-Age=9", sent: "a=b"}, // the last one counts
	},
	"paths": {
		{set: "a=b", sent: "a=b", from: "https://www.a.test/x/y?q=/1/2", to: "https://www.a.test/x/"},
		{set: "a=b", sent: "a=b", to: "https://www.a.test/x"},
		{set: "a=b", sent: "a=b", to: "https://www.a.test/x?q"},
		{set: "a=b", to: "https://www.a.test/"},
		{set: "a=b", to: "https://www.a.test/xy"},
		{set: "a=b", to: "https://www.a.test/X/"},
		{set: "a=b; Path=/", sent: "a=b", to: "https://www.a.test/"},
		{set: "a=b; Path", to: "https://www.a.test/"}, // the path of the request
		{set: "a=b; Path=y", to: "https://www.a.test/y"},
		{set: "a=b; Path=/p", sent: "a=b", to: "https://www.a.test/p/q"},
		{set: "a=b; Path=/p/", sent: "a=b", to: "https://www.a.test/p/q"},
		{set: "a=b; Path=/p/", to: "https://www.a.test/p"},
		{set: "a=b; Path=/p/", to: "https://www.a.test/pq"},
		{set: "a=b; Path=/%70", to: "https://www.a.test/p"},
		{set: "a=b; Path=/p?", to: "https://www.a.test/p"},
		{set: "a=b; Path=/p; Path=/q", to: "https://www.a.test/p"},
		{set: "a=b; Path=/p; Path=/q", sent: "a=b", to: "https://www.a.test/q"},
		{set: "a=b; Path=/\na=c; Path=/p\na=d; Path=/p/q", sent: "a=d; a=c; a=b", to: "https://www.a.test/p/q/r"}, // the longest first
	},
	"domains": {
		{set: "a=b", sent: "a=b", from: "http://www.a.test/", to: "http://www.a.test/"},
		{set: "a=b", sent: "a=b", to: "http://www.a.test:8080/"}, // ports do not matter
		{set: "a=b", sent: "a=b", to: "https://www.a.test/"},
		{set: "a=b", to: "http://a.test/"},
		{set: "a=b", to: "http://x.www.a.test/"},
		{set: "a=b; Domain=a.test", sent: "a=b", to: "http://other.a.test/"},
		{set: "a=b; Domain=a.test", sent: "a=b", to: "http://a.test/"},
		{set: "a=b; Domain=.A.Test", sent: "a=b", to: "http://other.a.test/"},
		{set: "a=b; Domain=www.a.test", sent: "a=b", to: "http://x.www.a.test/"},
		{set: "a=b; Domain=www.a.test", to: "http://other.a.test/"},
		{set: "a=b; Domain=other.a.test", to: "http://other.a.test/"},
		{set: "a=b; Domain=x.www.a.test", to: "http://x.www.a.test/"},
		{set: "a=b; Domain=b.test", to: "http://www.a.test/"},
		{set: "a=b; Domain=..a.test", to: "http://www.a.test/"},
		{set: "a=b; Domain=a.test.", to: "http://www.a.test/"},
		{set: "a=b; Domain=a.test:80", to: "http://www.a.test/"},
		{set: `a=b; Domain="a.test"`, to: "http://www.a.test/"},
		{set: "a=b; Domain=", sent: "a=b", to: "http://www.a.test/"},
		{set: "a=b; Domain=a.test; Domain=b.test", to: "http://www.a.test/"},
		{set: "a=b; Domain=b.test; Domain=a.test", sent: "a=b", to: "http://www.a.test/"},
		{set: "a=b; Domain=test", to: "http://www.a.test/"},
		{set: "a=b; Domain=co.uk", from: "http://a.co.uk/", to: "http://b.co.uk/"},
		{set: "a=b; Domain=co.uk", to: "http://a.co.uk/"},
		{set: "a=b; Domain=github.io", sent: "a=b", from: "http://github.io/", to: "http://github.io/"}, // only for itself
		{set: "a=b; Domain=github.io", to: "http://x.github.io/"},
		{set: "a=b", sent: "a=b", from: "http://localhost/", to: "http://localhost/"},
		{set: "a=b; Domain=localhost", sent: "a=b", to: "http://localhost/"},
		{set: "a=b", sent: "a=b", from: "http://192.0.2.1/", to: "http://192.0.2.1/"},
		{set: "a=b; Domain=192.0.2.1", sent: "a=b"},
		{set: "a=b; Domain=2.1"},
		{set: "a=b; Domain=0.2.1", to: "http://192.0.2.1/"},
		{set: "a=b", sent: "a=b", from: "http://[2001:db8::1]:8080/", to: "http://[2001:db8::1]/"},
	},
}

func TestFacts(t *testing.T) {
	for group, cases := range facts {
		t.Run(group, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from, to := "", ""
				for _, f := range cases {
					if f.from != "" {
						from = f.from
					}
					if f.to != "" {
						to = f.to
					}
					s := NewStore(DefaultBytes)
					s.Set("c", from, strings.Split(f.set, "\n"))
					if got := s.Header("c", to); got != f.sent {
						t.Errorf("%s sets %q: %s gets %q, want %q", from, f.set, to, got, f.sent)
					}
				}
			})
		})
	}
}

// A cookie set without encryption does not replace a secure one.
func TestSecureCookiesAreLeftAlone(t *testing.T) {
	for set, want := range map[string]string{
		"a=evil":                  "a=good; b=good",
		"a=evil; Domain=a.test":   "a=good; b=good",
		"a=evil; Path=/":          "a=good; b=good",
		"c=new":                   "a=good; b=good; c=new",
		"b=new":                   "a=good; b=new", // that one is not secure
		"a=evil; Max-Age=0":       "a=good; b=good",
		"a=evil; Secure; Path=/x": "a=good; b=good",
	} {
		s := NewStore(DefaultBytes)
		s.Set("c", "https://www.a.test/", []string{"a=good; Secure", "b=good"})
		s.Set("c", "http://www.a.test/", []string{set})
		if got := s.Header("c", "https://www.a.test/"); got != want {
			t.Errorf("%q: %q, want %q", set, got, want)
		}
	}
}

func TestCookiesEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(DefaultBytes)
		const url = "https://a.test/"
		s.Set("c", url, []string{"a=1; Max-Age=10", "b=2; Expires=Sat, 01 Jan 2000 00:00:20 GMT", "c=3"})
		for _, want := range []string{"a=1; b=2; c=3", "b=2; c=3", "c=3"} {
			if got := s.Header("c", url); got != want {
				t.Errorf("at %s: %q, want %q", time.Now(), got, want)
			}
			time.Sleep(10 * time.Second)
		}
	})
}

func TestCrawlsHaveTheirOwnCookies(t *testing.T) {
	s := NewStore(DefaultBytes)
	s.Set("one", "https://a.test/", []string{"a=1"})
	if got := s.Header("two", "https://a.test/"); got != "" {
		t.Errorf("another crawl gets %q", got)
	}
}

// A site that sets more cookies than fit continues with the newest ones.
func TestTooManyCookiesEvictTheOldest(t *testing.T) {
	s := NewStore(DefaultBytes)
	const url = "https://a.test/"
	for n := range 120 {
		s.Set("c", url, []string{fmt.Sprintf("n%d=%d", n, n)})
		s.Set("c", url, []string{"session=mine"}) // it is used all the time
	}
	got := strings.Split(s.Header("c", url), "; ")
	if len(got) != maxPerDomain || got[0] != "session=mine" && got[1] != "session=mine" || got[len(got)-1] != "n119=119" {
		t.Errorf("%d cookies are kept: %q", len(got), got)
	}
	for n := range 10 {
		host := fmt.Sprintf("https://h%d.a.test/", n)
		for m := range maxPerDomain {
			s.Set("c", host, []string{fmt.Sprintf("m%d=1", m)})
		}
	}
	if j, _ := s.jars.Get(key{"c", "a.test"}); len(j.cookies) != maxPerJar {
		t.Errorf("%d cookies of the domain are kept, want %d", len(j.cookies), maxPerJar)
	}
}

// Cookies set by strangers stay within the memory limit of the store, and domains in use stay.
func TestStoreIsBounded(t *testing.T) {
	const most = 1 << 20
	s := NewStore(most)
	for n := range 1000 {
		s.Set("c", fmt.Sprintf("https://a%d.test/", n), []string{"big=" + strings.Repeat("x", 4000)})
		s.Set("c", "https://used.test/", []string{fmt.Sprintf("n=%d", n)})
	}
	sum := 0
	for n := range 1000 {
		if j, ok := s.jars.Get(key{"c", fmt.Sprintf("a%d.test", 999-n)}); ok {
			sum += j.bytes()
		}
	}
	if sum > most || sum < most/4 {
		t.Errorf("%d bytes are kept, of at most %d", sum, most)
	}
	if got := s.Header("c", "https://used.test/"); got != "n=999" {
		t.Errorf("the domain in use has %q", got)
	}
	s.Set("c", "https://used.test/", []string{"n=1; Max-Age=0"})
	if _, kept := s.jars.Get(key{"c", "used.test"}); kept {
		t.Error("a domain without cookies takes memory")
	}
}

// A cookie expires at its date, in any form that sites use.
func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"Mon, 10-Dec-2007 17:02:24 GMT":           "2007-12-10T17:02:24Z",
		"Sun, 06 Nov 1994 08:49:37 GMT":           "1994-11-06T08:49:37Z",
		"Sunday, 06-Nov-94 08:49:37 GMT":          "1994-11-06T08:49:37Z",
		"Sun Nov  6 08:49:37 1994":                "1994-11-06T08:49:37Z",
		"Tue, 19-Jan-38 03:14:07 GMT":             "2038-01-19T03:14:07Z",
		"Wed Dec 12 2007 08:44:07 GMT-0500 (EST)": "2007-12-12T13:44:07Z",
		"2030 Nov 6 08:49:37":                     "2030-11-06T08:49:37Z",
		"29 Feb 2023 00:00:00":                    "",
		"6 Nov 12345 00:00:00":                    "",
		"soon":                                    "",
		"":                                        "",
		"Thu, 01 Jan 1970 00:00:00 GMT":           "1970-01-01T00:00:00Z",
		"Fri, 31 Dec 9999 23:59:59 GMT":           "9999-12-31T23:59:59Z",
	} {
		f, ok := parse("a=b; Expires="+text, time.Now())
		got := ""
		if !f.expires.IsZero() {
			got = f.expires.UTC().Format(time.RFC3339)
		}
		if !ok || got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Whatever fields arrive, the Cookie field is valid, and the store stays within its limits.
func FuzzSet(f *testing.F) {
	for _, cases := range facts {
		for _, c := range cases {
			f.Add(c.set)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := NewStore(1 << 16)
		s.Set("c", "https://www.a.test/x", strings.Split(text, "\n"))
		if got := s.Header("c", "https://www.a.test/x"); strings.ContainsFunc(got, isControl) {
			t.Errorf("%q goes back as %q", text, got)
		}
	})
}
