package fetcher

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"seine/internal/render"
	"seine/internal/testing/echoserver"
	"seine/internal/testing/webproxy"
	"seine/pkg/messages"
)

// routes are the responses of a site by path: "301 URL" redirects, any other text is a page.
type routes map[string]string

// of makes a site respond with the routes.
func (r routes) of(e *echoserver.Server) {
	inner := e.Config.Handler
	e.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, ok := r[req.URL.Path]
		if to, redirects := strings.CutPrefix(text, "301 "); redirects {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusMovedPermanently)
		} else if ok {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, text)
		}
		if ok {
			w = httptest.NewRecorder() // inner only records the request
		}
		inner.ServeHTTP(w, req)
	})
}

// However a request is sent, it carries the credentials, cookies and headers of a source only if
// its own URL belongs to that source.
func TestCredentialsFollowTheURL(t *testing.T) {
	t.Setenv("SEINE_SECRET_TOKEN", "s3cret")
	for name, way := range map[string]struct {
		site routes // with OTHER for the site that is not trusted
		send func(t *testing.T, s *fetcherFixture, site, other string)
	}{
		"page": {nil, func(_ *testing.T, s *fetcherFixture, site, other string) {
			s.get(site + "/page")
			s.get(other + "/page")
		}},
		"robots.txt elsewhere": {routes{"/robots.txt": "301 OTHER/robots.txt"}, func(_ *testing.T, s *fetcherFixture, site, _ string) {
			s.get(site + "/page")
		}},
		"robots.txt elsewhere by a second hop": {routes{"/robots.txt": "301 /here", "/here": "301 OTHER/robots.txt"},
			func(_ *testing.T, s *fetcherFixture, site, _ string) { s.get(site + "/page") }},
		"redirect": {routes{"/go": "301 OTHER/page"}, func(_ *testing.T, s *fetcherFixture, site, _ string) {
			s.get(s.get(site + "/go").Location)
		}},
		"redirect to itself": {routes{"/go": "301 /go;jsessionid=1"}, func(_ *testing.T, s *fetcherFixture, site, other string) {
			s.get(site + "/go")
			s.get(other + "/go")
		}},
		"sitemap": {routes{"/robots.txt": "Sitemap: OTHER/map.xml"}, func(t *testing.T, s *fetcherFixture, site, _ string) {
			m, _ := requestMessage(site + "/page")
			out, err := s.handle(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Free()
			for _, m := range out.First {
				if c, err := messages.DecodeCandidates(m.Data); err == nil && m.Header.Get(messages.HeaderPage) == "" {
					s.get(c.URLs[0].URL)
				}
			}
		}},
		"second delivery": {nil, func(t *testing.T, s *fetcherFixture, site, other string) {
			answerWanted(t, s.bus, true)
			s.handle1(request(site+"/page"), 2)
			s.handle1(request(other+"/page"), 2)
		}},
		"extract": {routes{"/robots.txt": "301 OTHER/robots.txt", "/go": "301 OTHER/page"}, func(t *testing.T, s *fetcherFixture, site, other string) {
			got, err := FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), s.spec().Spec, site+"/go", func(time.Duration) {})
			if err != nil {
				t.Fatal(err)
			}
			if trusted := !strings.Contains(other, "127.0.0.1"); (got.Withheld == "") != trusted {
				t.Errorf("withheld %q", got.Withheld)
			}
		}},
	} {
		for _, host := range []string{"localhost", "127.0.0.1"} { // of no source; of the source, at a port that it does not name
			t.Run(name+" at "+host, func(t *testing.T) {
				site, other := echoserver.New(t), echoserver.New(t)
				otherURL := strings.Replace(other.URL, "127.0.0.1", host, 1)
				answers := make(routes)
				for path, text := range way.site {
					answers[path] = strings.ReplaceAll(text, "OTHER", otherURL)
				}
				answers.of(site)
				s := newFetcherFixture(t, specOption(t, "allow_private: true\ndelay: 0s\nsitemaps: true\nsources:\n- hosts: [127.0.0.1, '"+site.URL+
					"']\n  auth: {bearer: '{secret:TOKEN}'}\n  headers: {X-Key: '{secret:TOKEN}', Cookie: id=s3cret, X-Open: 'yes'}\n"))
				way.send(t, s, site.URL, otherURL)
				if len(site.Seen()) == 0 || len(other.Seen()) == 0 {
					t.Fatalf("%d requests to the site, %d to the other", len(site.Seen()), len(other.Seen()))
				}
				for _, r := range site.Seen() {
					if r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("X-Key") != "s3cret" || r.Header.Get("Cookie") != "id=s3cret" {
						t.Errorf("%s: the source's own site got %v", r.URL, r.Header)
					}
				}
				for _, r := range other.Seen() {
					if strings.Contains(fmt.Sprint(r.Header), "s3cret") {
						t.Errorf("%s%s got credentials: %v", otherURL, r.URL, r.Header)
					}
					if named := host == "127.0.0.1"; (r.Header.Get("X-Open") != "") != named {
						t.Errorf("%s%s got X-Open %q", otherURL, r.URL, r.Header.Get("X-Open"))
					}
				}
			})
		}
	}
}

// Settings that a source loosens do not apply to the host to which its robots.txt redirects, and
// its proxy does not see that request either.
func TestRobotsElsewhereGoesByTheWayOfItsOwnHost(t *testing.T) {
	t.Setenv("SEINE_SECRET_PROXY", "s3cret")
	proxy := webproxy.NewHTTP(t)
	elsewhere := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	plain := echoserver.New(t)
	for location, want := range map[string]struct {
		class   messages.Class
		through int64
	}{
		strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1) + "/robots.txt": {messages.TLSFailure, 1},
		strings.Replace(plain.URL, "127.0.0.1", "localhost", 1) + "/robots.txt":     {messages.OK, 2},
		plain.URL + "/robots.txt": {messages.OK, 3},
	} {
		site := echoserver.New(t)
		routes{"/robots.txt": "301 " + location}.of(site)
		s := newFetcherFixture(t, specOption(t, "allow_private: true\ndelay: 0s\nsources:\n- hosts: [127.0.0.1]\n  tls: {insecure: true}\n"+
			"  proxies: ['http://me:{secret:PROXY}@"+proxy.Address+"']\n"))
		before := proxy.Count()
		s.get(site.URL+"/page").wants(t, want.class)
		if n := proxy.Count() - before; n != want.through {
			t.Errorf("%s: %d requests through the source's proxy, want %d", location, n, want.through)
		}
	}
}

// A request rule applies to the URLs that match it, and not to the targets of their redirects.
func TestRuleEndsWithItsURL(t *testing.T) {
	t.Setenv("SEINE_SECRET_TOKEN", "s3cret")
	e := echoserver.New(t)
	routes{"/p": "301 /p;jsessionid=1"}.of(e)
	s := withSpec(t, "requests:\n- match: '"+e.URL+"/p'\n  method: POST\n  headers: {X-Key: '{secret:TOKEN}'}\n  body: hello\n")
	s.get(e.URL+"/p").wants(t, messages.OK)
	var got []string
	for _, r := range e.Seen() {
		got = append(got, fmt.Sprintf("%s %s key %q body %q", r.Method, r.RequestURI, r.Header.Get("X-Key"), r.Text))
	}
	if want := `POST /p key "s3cret" body "hello", GET /p;jsessionid=1 key "" body ""`; strings.Join(got, ", ") != want {
		t.Errorf("sent %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// Withheld credentials are reported: in the log, once, and with the refusal that follows.
func TestWithheldCredentialsAreTold(t *testing.T) {
	t.Setenv("SEINE_SECRET_TOKEN", "s3cret")
	e := echoserver.New(t)
	e.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if r.Header.Get("Authorization") == "" && r.URL.Path == "/closed" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	s := withSpec(t, "sources:\n- hosts: [127.0.0.1]\n  auth: {bearer: '{secret:TOKEN}'}\n")
	var log strings.Builder
	s.bus.Log = slog.New(slog.NewTextHandler(&log, nil))
	h := s.get(e.URL + "/closed")
	h.wants(t, messages.ClientError)
	why := fmt.Sprintf("auth of the source is not sent to %s: add %q to its hosts to have it sent there, in the clear", e.URL, e.URL)
	if !strings.Contains(h.Error, why) {
		t.Errorf("error %q, want in it %q", h.Error, why)
	}
	s.get(e.URL+"/open").wants(t, messages.OK)
	if n := strings.Count(log.String(), "credentials are not sent"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
}
