package httpclient

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/internal/base/weburl"
	"seine/internal/testing/echoserver"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

func TestRequestsAreAsTheSpecSays(t *testing.T) {
	t.Setenv("SEINE_SECRET_TOKEN", "s3cret")
	t.Setenv("SEINE_SECRET_ODD", `a"b&c`)
	const source = "sources:\n- hosts: ['http://127.0.0.1:PORT']\n  "
	for name, c := range map[string]struct {
		spec, path string
		want       string // of the request, in the form of show
		body       string
	}{
		"default": {"", "/a?b=c", "GET /a?b=c", ""},
		"headers": {"headers: {Accept-Language: de, x-odd-Case: 'yes'}", "/", "GET / Accept-Language=de X-Odd-Case=yes", ""},
		"a source's headers go first": {
			"headers: {X-A: all, X-B: all}\n" + source + "headers: {x-a: one}", "/", "GET / X-A=one X-B=all", "",
		},
		"another source": {"sources:\n- hosts: [other.example]\n  headers: {X-A: one}", "/", "GET /", ""},
		"basic auth":     {source + "auth: {user: me, password: '{secret:TOKEN}'}", "/", "GET / Authorization=Basic bWU6czNjcmV0", ""},
		"bearer":         {source + "auth: {bearer: '{secret:TOKEN}'}", "/", "GET / Authorization=Bearer s3cret", ""},
		"secret header":  {source + "headers: {X-Key: 'k {secret:TOKEN}'}", "/", "GET / X-Key=k s3cret", ""},
		"user agents":    {"user_agents: [one/1]", "/", "GET / User-Agent=one/1", ""},
		"contact":        {"contact: https://example.org/bot", "/", "GET / User-Agent=seine/" + version() + " (web crawler; +https://example.org/bot)", ""},
		"query": {
			"requests:\n- match: '*'\n  query: {page: '{page|1}', lang: de}", "/s?q=x", "GET /s?q=x&lang=de&page=1", "",
		},
		"secret in the query": {
			"requests:\n- match: 'http://127.0.0.1:PORT/*'\n  query: {key: '{secret:ODD}'}", "/s?q=%7e", "GET /s?q=~&key=a%22b%26c", "",
		},
		"JSON": {
			"requests:\n- match: '*/search?*'\n  method: POST\n  headers: {Content-Type: application/json}\n" +
				`  body: '{"q": "{q}", "page": {page|1}}'`, `/search?q=a"b&page=3&keep=1`,
			"POST /search?keep=1 Content-Type=application/json", `{"q": "a\"b", "page": 3}`,
		},
		"form": {
			"requests:\n- match: '*'\n  method: POST\n  headers: {Content-Type: application/x-www-form-urlencoded}\n  body: 'q={q}&go=1'",
			"/search?q=a%26b", "POST /search Content-Type=application/x-www-form-urlencoded", "q=a%26b&go=1",
		},
		"plain body": {"requests:\n- match: '*'\n  method: PUT\n  body: '<q>{q}</q>'", "/?q=%3Ci%3E", "PUT /", "<q><i></q>"},
		"first rule": {
			"requests:\n- match: '*/a'\n  headers: {X-R: a}\n- match: '*'\n  headers: {X-R: all}", "/a", "GET /a X-R=a", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := echoserver.New(t)
			s := withPrivate(t, strings.ReplaceAll(c.spec, "PORT", port(e.URL)))
			s.get(canonical(t, e.URL+c.path)).wants(t, messages.OK)
			got := e.Last(t)
			if line := show(got); line != c.want {
				t.Errorf("sent %s\nwant %s", line, c.want)
			}
			if got.Text != c.body {
				t.Errorf("sent the body %s, want %s", got.Text, c.body)
			}
		})
	}
}

// show writes the parts that differ from a default request.
func show(r echoserver.Request) string {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.RequestURI)
	usual := map[string]string{
		"Accept": "text/html,application/xhtml+xml,text/plain,*/*;q=0.1", "Accept-Encoding": "gzip, deflate, br, zstd",
		"User-Agent": crawlspec.DefaultUserAgent,
	}
	for _, name := range sortedKeys(r.Header) {
		if v := r.Header.Get(name); v != usual[name] && name != "Content-Length" {
			b.WriteString(" " + name + "=" + v)
		}
	}
	return b.String()
}

func TestUserAgentsTakeTurns(t *testing.T) {
	e := echoserver.New(t)
	s := withPrivate(t, "user_agents: [a/1, b/1]")
	var got []string
	for n := range 4 {
		s.get(fmt.Sprintf("%s/%d", e.URL, n)).wants(t, messages.OK)
		got = append(got, e.Last(t).UserAgent())
	}
	if strings.Join(got, " ") != "a/1 b/1 a/1 b/1" {
		t.Errorf("user agents %q", got)
	}
}

func TestSecretsComeFromFilesToo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "FILED"), []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := echoserver.New(t)
	s := withPrivate(t, "sources:\n- hosts: ['"+e.URL+"']\n  headers: {X-Key: '{secret:FILED}'}",
		func(c *Config, _ *crawlspec.Spec) { c.Secrets = dir })
	s.get(e.URL+"/").wants(t, messages.OK)
	if got := e.Last(t).Header.Get("X-Key"); got != "from a file" {
		t.Errorf("X-Key is %q", got)
	}
}

// The error names what is missing, and nothing is sent without it.
func TestRequestThatCannotBeMade(t *testing.T) {
	for name, c := range map[string]struct{ spec, path, want string }{
		"no secret":    {"sources:\n- hosts: ['http://127.0.0.1:PORT']\n  auth: {bearer: '{secret:NOWHERE}'}", "/", "set SEINE_SECRET_NOWHERE"},
		"no parameter": {"requests:\n- match: '*'\n  query: {q: '{q}'}", "/?p=1", "the URL has no parameter q"},
		"bad header":   {"requests:\n- match: '*'\n  headers: {X-Q: '{q}'}", "/?q=a%0Ab", "header X-Q would have a value that no header can have"},
	} {
		t.Run(name, func(t *testing.T) {
			e := echoserver.New(t)
			s := withPrivate(t, strings.ReplaceAll(c.spec, "PORT", port(e.URL)))
			h := s.get(e.URL + c.path)
			h.wants(t, messages.Misconfigured)
			if !strings.Contains(h.Text, c.want) {
				t.Errorf("error %q, want %q in it", h.Text, c.want)
			}
			if len(e.Seen()) > 0 {
				t.Error("a request was sent all the same")
			}
		})
	}
}

// A secret that one source lacks does not affect the others.
func TestMissingSecretConcernsItsSourceOnly(t *testing.T) {
	e := echoserver.New(t)
	source := strings.Replace(e.URL, "127.0.0.1", "localhost", 1)
	s := withPrivate(t, "sources:\n- hosts: ['"+source+"']\n  auth: {bearer: '{secret:NOWHERE}'}")
	s.get(e.URL+"/").wants(t, messages.OK)
	s.get(source+"/").wants(t, messages.Misconfigured)
}

// Cookies follow RFC 6265: they belong to a host and a path, whatever the port. Values are sent
// back unchanged.
func TestCookiesAreSentBack(t *testing.T) {
	e := echoserver.New(t)
	inner := e.Config.Handler
	e.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/set" {
			w.Header()["Set-Cookie"] = []string{
				"a=b c", `q="1, 2"`, "odd=a\"b\\c", "bytes=\xe9", "deep=2; Path=/deep", "gone=3; Max-Age=0", "secure=4; Secure",
				"big=" + strings.Repeat("x", 5000),
			}
		}
		inner.ServeHTTP(w, r)
	})
	elsewhere := strings.Replace(e.URL, "127.0.0.1", "localhost", 1)
	const all = `a=b c; q="1, 2"; odd=a"b\c; bytes=` + "\xe9"
	for _, c := range []struct{ spec, path, deep, other string }{
		{"cookies: true", all, "deep=2; " + all, ""},
		{"cookies: false", "", "", ""},
		{"cookies: true\nheaders: {cookie: own=1}", "own=1; " + all, "own=1; deep=2; " + all, "own=1"},
		{"sources:\n- hosts: [localhost]\n  cookies: true", "", "", ""},
		{"sources:\n- hosts: [127.0.0.1]\n  cookies: true", all, "deep=2; " + all, ""},
	} {
		s := withPrivate(t, c.spec)
		s.get(e.URL+"/set").wants(t, messages.OK)
		for url, want := range map[string]string{e.URL + "/next": c.path, e.URL + "/deep/x": c.deep, elsewhere + "/": c.other} {
			s.get(url).wants(t, messages.OK)
			if got := strings.Join(e.Last(t).Header["Cookie"], " AND "); got != want {
				t.Errorf("%s: %s got %q, want %q", c.spec, url, got, want)
			}
		}
	}
}

func TestAddressesCanBeAllowedByNetwork(t *testing.T) {
	e := echoserver.New(t)
	for allow, want := range map[string]messages.Class{"[]": messages.RefusedAddress, "[127.0.0.0/8]": messages.OK, "[10.0.0.0/8]": messages.RefusedAddress} {
		s := withSpec(t, "allow_addresses: "+allow)
		s.get(e.URL+"/").wants(t, want)
	}
}

func TestTLSCanBeLoosenedForASource(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
	}))
	t.Cleanup(srv.Close)
	const source = "sources:\n- hosts: [127.0.0.1]\n  tls: "
	ca := "{ca: " + quotePEM(srv.Certificate()) + "}"
	for tls, want := range map[string]messages.Class{
		"{}": messages.TLSFailure, "{insecure: true}": messages.OK, ca: messages.OK, "{insecure: true, min_version: '1.3'}": messages.OK,
	} {
		withPrivate(t, source+tls).get(srv.URL+"/").wants(t, want)
	}
	withPrivate(t, "sources:\n- hosts: [other.example]\n  tls: {insecure: true}").get(srv.URL+"/").wants(t, messages.TLSFailure)
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	c, err := weburl.Canonicalize(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func port(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u.Port()
}

func sortedKeys(h http.Header) []string { return slices.Sorted(maps.Keys(h)) }

// version returns the version in the default user agent.
func version() string {
	v, _, _ := strings.Cut(strings.TrimPrefix(crawlspec.DefaultUserAgent, "seine/"), " ")
	return v
}

// quotePEM returns a certificate as a YAML string.
func quotePEM(c *x509.Certificate) string {
	text, err := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})))
	if err != nil {
		panic(err)
	}
	return string(text)
}
