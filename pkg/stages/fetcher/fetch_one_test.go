package fetcher

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/render"
	"seine/internal/testing/browser"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// onceSite responds to a few paths, and records the requests.
func onceSite(t *testing.T) (url string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" { // the test would wait for a response
			<-r.Context().Done()
			return
		}
		*asked = append(*asked, r.URL.Path)
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /secret\n"))
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<title>it</title>" + r.UserAgent()))
		case "/data":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{}"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func TestOnce(t *testing.T) {
	url, asked := onceSite(t)
	spec := localSpec()
	spec.UserAgent = "tester/1"
	got, err := FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), &spec, url+"/moved", func(time.Duration) { t.Error("no rest is due") })
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Body) != "<title>it</title>tester/1" || got.Page.URL != url+"/page" || got.Page.Status != 200 ||
		got.Page.ContentType != "text/html" || !slices.Equal(got.Via, []string{url + "/moved"}) {
		t.Errorf("got %q, %+v, via %v", got.Body, got.Page, got.Via)
	}
	if want := []string{"/robots.txt", "/moved", "/page"}; !slices.Equal(*asked, want) {
		t.Errorf("asked for %v, want %v", *asked, want)
	}
}

func TestOnceLetsTheHostRest(t *testing.T) {
	url, _ := onceSite(t)
	spec := localSpec()
	spec.Delay = crawlspec.Duration(30 * time.Millisecond)
	var rest time.Duration
	began := time.Now()
	if _, err := FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), &spec, url+"/page", func(d time.Duration) { rest = d }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); rest != 30*time.Millisecond || took < rest {
		t.Errorf("told %s, took %s", rest, took)
	}
}

func TestOnceRefuses(t *testing.T) {
	url, asked := onceSite(t)
	for _, c := range []struct {
		path  string
		class messages.Class
		says  string
		spec  func(*crawlspec.Spec)
	}{
		{"/secret/x", messages.RobotsDenied, "Disallow: /secret", nil},
		{"/nothing", messages.Gone, "404", nil},
		{"/round", messages.Redirect, "max_redirects", func(s *crawlspec.Spec) { s.MaxRedirects = 3 }},
		{"/data", messages.UnsupportedType, "application/json", nil},
		{"/page", messages.RefusedAddress, "", func(s *crawlspec.Spec) { s.AllowPrivate = false }},
		{"/page", messages.TooLarge, "over the limit", func(s *crawlspec.Spec) { s.MaxBody = 5 }},
		{"/page", messages.TooLarge, "over the limit", func(s *crawlspec.Spec) {
			s.Sources = []crawlspec.HostRule{{Hosts: []string{weburl.Hostname(url)}, MaxBody: new(crawlspec.Bytes(5))}}
		}},
		{"/never", messages.Timeout, "", func(s *crawlspec.Spec) {
			s.Robots = crawlspec.RobotsIgnore
			s.Sources = []crawlspec.HostRule{{Hosts: []string{weburl.Hostname(url)}, Timeout: new(crawlspec.Duration(time.Millisecond))}}
		}},
		{"/page", messages.Misconfigured, "NONE_SUCH", func(s *crawlspec.Spec) {
			s.Sources = []crawlspec.HostRule{{Hosts: []string{url}, Access: crawlspec.Access{Headers: map[string]string{"X": "{secret:NONE_SUCH}"}}}}
		}},
	} {
		t.Run(c.path+" "+string(c.class), func(t *testing.T) {
			spec := localSpec()
			if c.spec != nil {
				c.spec(&spec)
			}
			_, err := FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), &spec, url+c.path, func(time.Duration) {})
			failed, ok := errors.AsType[*FetchError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if failed.Class != c.class || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %s: %v", failed.Class, err)
			}
		})
	}
	if slices.Contains(*asked, "/secret/x") {
		t.Error("robots.txt was not obeyed")
	}
}

// A page that scripts fill is rendered in a browser, with the pictures that the spec requests, and
// reports the outcomes of its actions.
func TestOnce_SpecRenders_PageIsRendered(t *testing.T) {
	browser.Path(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/app" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>app</title><main></main><script>document.querySelector('main').textContent = 'made by ' + 'a script'</script>"))
	}))
	t.Cleanup(site.Close)
	spec := localSpec()
	spec.SetRender(crawlspec.RenderAlways)
	spec.Render.Screenshot, spec.Render.PDF = true, true
	spec.Render.Actions = []crawlspec.RenderAction{{Script: "document.title = 'acted'"}, {Screenshot: true}}
	got, err := FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), &spec, site.URL+"/app", func(time.Duration) {})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got.Body), "made by a script") || got.Page.Rendered == "" || got.Cut != "" || got.Actions != "1 script: ran; 2 screenshot: taken" {
		t.Errorf("rendered %q, cut %q, actions %q: %s", got.Page.Rendered, got.Cut, got.Actions, got.Body)
	}
	if !strings.HasPrefix(string(got.Screenshot), "\x89PNG") || !strings.HasPrefix(string(got.PDF), "%PDF") {
		t.Errorf("screenshot %.8q, PDF %.8q", got.Screenshot, got.PDF)
	}
}

// Without a browser the error names what is missing, and no page without its content is returned.
func TestOnce_NoBrowser_Error(t *testing.T) {
	url, _ := onceSite(t)
	spec := localSpec()
	spec.SetRender(crawlspec.RenderAlways)
	none := render.DefaultConfig()
	none.Path = "/nonexistent"
	if _, err := FetchOne(t.Context(), DefaultConfig(), none, &spec, url+"/page", func(time.Duration) {}); err == nil || !strings.Contains(err.Error(), "/nonexistent") {
		t.Errorf("error %v", err)
	}
}
