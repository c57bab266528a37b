package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// gatedSite serves pages only to clients that send its cookies back: at once, or through another
// page.
func gatedSite(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		has := func(cookie string) bool { return strings.Contains(r.Header.Get("Cookie"), cookie) }
		redirect := func(to, cookie string) {
			if cookie != "" {
				w.Header().Set("Set-Cookie", cookie+"; Path=/")
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
		switch path := r.URL.Path; {
		case path == "/robots.txt":
			http.NotFound(w, r)
		case path == "/" && !has("seen=yes"):
			redirect("/", "seen=yes")
		case path == "/b" && !has(`pass="a b"`):
			redirect("/check?to=/b", "")
		case path == "/check":
			redirect("/set?"+r.URL.RawQuery, "")
		case path == "/set":
			redirect(r.URL.Query().Get("to"), `pass="a b"`)
		case path == "/circle":
			redirect("/circle/2", "")
		case path == "/circle/2":
			redirect("/circle", "")
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<title>%s</title><a href="/b">b</a> <a href="/circle">circle</a>`, path)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Pages behind cookie gates are fetched once each. A redirect loop that no cookie ends is
// abandoned.
func TestCookieGatesArePassed(t *testing.T) {
	t.Parallel()
	url := gatedSite(t)
	p := newWorkspace(t)
	c := p.crawl(url+"/", "--spec", file(t, "spec.yaml", "cookies: true\n"))
	c.expect(0)
	var got []string
	for _, r := range rawRecords(t, p.out, "default") {
		got = append(got, strings.TrimPrefix(fmt.Sprint(r["url"]), url))
	}
	slices.Sort(got)
	if want := []string{"/", "/b"}; !slices.Equal(got, want) {
		t.Errorf("the output has %q, want %q", got, want)
	}
	if s := c.summary(); s.URLs.Failed != 1 {
		t.Errorf("%+v", s.URLs)
	}
}
