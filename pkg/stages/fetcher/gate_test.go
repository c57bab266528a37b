package fetcher

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func withCookies(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Cookies = new(true) }

// gate makes a path of host 0 respond by the cookies of the request: with a page if open says so,
// otherwise with a redirect that sets cookies.
func (s *fetcherFixture) gate(path, location string, asked *atomic.Int32, open func(cookies string) (set []string, page bool)) {
	s.web.Handle(0, path, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		set, page := open(r.Header.Get("Cookie"))
		w.Header()["Set-Cookie"] = set
		w.Header().Set("Content-Type", "text/plain")
		if page {
			fmt.Fprint(w, "the page")
			return
		}
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	})
}

// A site that redirects to the same URL until a cookie comes back is passed; one that always does
// so is not followed without end.
func TestCookieGateAtTheSameURL(t *testing.T) {
	t.Parallel()
	has := strings.Contains
	for name, c := range map[string]struct {
		open  func(cookies string) (set []string, page bool)
		off   bool // disables cookies
		asked int32
		class messages.Class
		says  string
	}{
		"one cookie": {open: func(c string) ([]string, bool) { return []string{"a=1"}, has(c, "a=1") }, asked: 2, class: messages.OK},
		"two cookies, one after the other": {open: func(c string) ([]string, bool) {
			if !has(c, "a=1") {
				return []string{"a=1"}, false
			}
			return []string{"b=2"}, has(c, "b=2")
		}, asked: 3, class: messages.OK},
		"a cookie that is taken back": {open: func(c string) ([]string, bool) {
			return []string{"a=1; Max-Age=" + map[bool]string{true: "0", false: "60"}[has(c, "a=1")]}, false
		}, asked: 2, class: messages.ClientError, says: "redirects to itself"},
		"the same cookie for ever": {open: func(string) ([]string, bool) { return []string{"a=1"}, false }, asked: 2, class: messages.ClientError, says: "redirects to itself"},
		"another cookie for ever": {open: func(c string) ([]string, bool) { return []string{c + "x=" + fmt.Sprint(len(c))}, false },
			asked: 4, class: messages.ClientError, says: "redirects to itself"},
		"a cookie for elsewhere": {open: func(string) ([]string, bool) { return []string{"a=1; Path=/other"}, false }, asked: 1, class: messages.ClientError, says: "redirects to itself"},
		"without cookies": {open: func(c string) ([]string, bool) { return []string{"a=1"}, has(c, "a=1") }, off: true, asked: 1,
			class: messages.ClientError, says: "redirects to itself and sets a cookie: the site may require cookies (cookies: true)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := []option{ignoreRobots, withCookies}
			if c.off {
				options = options[:1]
			}
			s := newFetcherFixture(t, options...)
			var asked atomic.Int32
			s.gate("/gate", "/gate", &asked, c.open)
			h := s.get(s.url("/gate"))
			h.wants(t, c.class)
			if h.Error != c.says || asked.Load() != c.asked {
				t.Errorf("%d requests, want %d; error %q, want %q", asked.Load(), c.asked, h.Error, c.says)
			}
			if c.class == messages.OK && (string(h.body) != "the page" || h.page.URL != s.url("/gate")) {
				t.Errorf("page of %s: %s", h.page.URL, h.body)
			}
		})
	}
}

// With follow, a gate over other URLs is passed in one turn, since only this fetcher has its
// cookie. A redirect elsewhere is reported as such.
func TestCookieGateByWayOfOtherURLs(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, withCookies, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
		s.MaxRedirects, s.Exclude = 6, []string{"*/excluded"}
	})
	s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /closed\n")
	})
	var asked atomic.Int32
	always := func(set ...string) func(string) ([]string, bool) {
		return func(string) ([]string, bool) { return set, false }
	}
	by := func(cookie string) func(string) ([]string, bool) {
		return func(c string) ([]string, bool) { return nil, strings.Contains(c, cookie) }
	}
	page := func(string) ([]string, bool) { return nil, true }
	for _, hop := range []struct {
		from, to string
		open     func(string) ([]string, bool)
	}{
		{"/page", "/ask", by("pass=1")}, {"/ask", "/set", always()}, {"/set", "/page", always("pass=1")},
		{"/circle", "/circle2", always()}, {"/circle2", "/circle", always("round=1")},
		{"/spiral", "/spiral2", always()}, {"/spiral2", "/spiral", func(c string) ([]string, bool) { return []string{fmt.Sprintf("n%d=1", len(c))}, false }},
		{"/old", "/new", always()}, {"/new", "", page},
		{"/away", "/away2", always()}, {"/away2", "http://elsewhere.example/", always()},
		{"/shut", "/closed", always()}, {"/closed", "/shut", always("pass=1")},
		{"/gone", "/missing", always()}, {"/leave", "/excluded", always()}, {"/excluded", "", page},
	} {
		s.gate(hop.from, hop.to, &asked, hop.open)
	}
	for _, c := range []struct {
		path     string
		follow   bool
		class    messages.Class
		location string
		asked    int32
	}{
		{"/page", false, messages.Redirect, "/ask", 1},
		{"/page", true, messages.OK, "", 4},
		{"/page", true, messages.OK, "", 1}, // it has the cookie
		{"/circle", true, messages.ClientError, "", 4},
		{"/spiral", true, messages.ClientError, "", 7},
		{"/old", true, messages.Redirect, "/new", 2},
		{"/away", true, messages.Redirect, "http://elsewhere.example/", 2},
		{"/shut", true, messages.Redirect, "/closed", 1},
		{"/leave", true, messages.Redirect, "/excluded", 1},
		{"/gone", true, messages.Redirect, "/missing", 1}, // beside the one that is not there
	} {
		asked.Store(0)
		req := request(s.url(c.path))
		req.Follow = c.follow
		h := s.handle1(req, 1)
		h.wants(t, c.class)
		want := c.location
		if strings.HasPrefix(want, "/") {
			want = s.url(want)
		}
		if h.Location != want || asked.Load() != c.asked {
			t.Errorf("%s: location %q, want %q; %d requests, want %d", c.path, h.Location, want, asked.Load(), c.asked)
		}
		if c.class == messages.OK && (h.page.URL != req.URL || string(h.body) != "the page") {
			t.Errorf("%s: page of %s: %s", c.path, h.page.URL, h.body)
		}
		if c.class == messages.ClientError && h.Error != "redirects in a circle, whatever cookies are sent" {
			t.Errorf("%s: %s", c.path, h.Error)
		}
	}
}

// A request that becomes suspect while redirects are followed restarts at the URL of the visit: the
// page of another URL is not mistaken for it.
func TestFollowedRedirectThatBecomesSuspectBeginsAnew(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots, withCookies)
	answerWanted(t, s.bus, true)
	var asked atomic.Int32
	s.gate("/old", "/new", &asked, func(string) ([]string, bool) { return nil, false })
	s.gate("/new", "", &asked, func(string) ([]string, bool) { return nil, true })
	s.Fetcher.get = &doubtful{exchanger: s.Fetcher.get, bus: s.bus, at: 2}
	req := request(s.url("/old"))
	req.Follow = true
	out, err := s.handle(t.Context(), &stages.Message{Data: req.Encode(), Deliveries: 1, Stored: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	out.Free()
	res, err := messages.DecodeResult(out.Last[0].Data)
	if err != nil || res.Class != messages.Redirect || res.Location != s.url("/new") {
		t.Errorf("ended as %+v, %v", res, err)
	}
}

// The validators of a request apply only to its URL.
func TestFollowedRedirectIsAskedForWithoutCondition(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots, withCookies)
	var conditions []string
	for path, to := range map[string]string{"/page": "/set", "/set": "/page"} {
		s.web.Handle(0, path, func(w http.ResponseWriter, r *http.Request) {
			conditions = append(conditions, path+r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since"))
			if r.Header.Get("Cookie") == "" {
				w.Header().Set("Location", to)
				w.Header().Set("Set-Cookie", "a=1; Path=/"+map[string]string{"/page": "none", "/set": ""}[path])
				w.WriteHeader(http.StatusFound)
			}
		})
	}
	req := request(s.url("/page"))
	req.Follow, req.ETag, req.LastModified = true, `"e"`, "then"
	s.handle1(req, 1)
	if want := []string{`/page"e"then`, "/set", `/page"e"then`}; !slices.Equal(conditions, want) {
		t.Errorf("asked for %q, want %q", conditions, want)
	}
}
