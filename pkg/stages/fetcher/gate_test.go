package fetcher

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"seine/internal/testweb"
	"seine/pkg/messages"
)

func withCookies(_ *Config, s *messages.Spec, _ *testweb.Config) { s.Cookies = new(true) }

// gate makes a path of host 0 answer by the cookies of the request: with a page if
// open says so, else with a redirect that sets cookies.
func (s *stage) gate(path, location string, asked *atomic.Int32, open func(cookies string) (set []string, page bool)) {
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

// A site that redirects to the same URL until a cookie comes back is passed; one
// that does so for ever is not followed for ever.
func TestCookieGateAtTheSameURL(t *testing.T) {
	t.Parallel()
	has := strings.Contains
	for name, c := range map[string]struct {
		open  func(cookies string) (set []string, page bool)
		off   bool // cookies are
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
			class: messages.ClientError, says: "redirects to itself and sets a cookie: the site may let in who sends it back (cookies: true)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := []option{ignoreRobots, withCookies}
			if c.off {
				options = options[:1]
			}
			s := newStage(t, options...)
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
