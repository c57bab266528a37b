package fetcher

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"seine/internal/render"
	"seine/internal/testing/browser"
	"seine/internal/testing/scriptweb"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// newLoginFixture returns a fetcher that logs in at a path as a member of the web.
func newLoginFixture(t *testing.T, w *scriptweb.Web, path string, options ...option) *fetcherFixture {
	t.Helper()
	browser.Path(t)
	t.Setenv("SEINE_SECRET_USER", scriptweb.MemberName)
	t.Setenv("SEINE_SECRET_PASSWORD", scriptweb.MemberPassword)
	login := func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
		yes, how := true, crawlspec.DefaultRender()
		how.Mode, how.Login = crawlspec.RenderAlways, &crawlspec.RenderLogin{
			URL: w.URL(path), Script: scriptweb.MemberScript, When: scriptweb.NoMember,
			Secrets: map[string]string{"user": "{secret:USER}", "password": "{secret:PASSWORD}"},
			Wait:    crawlspec.RenderWait{Until: crawlspec.UntilIdle, Selector: "#hello"},
		}
		s.Cookies, s.Render, s.Archive = &yes, &how, true
	}
	s := newFetcherFixture(t, append([]option{ignoreRobots, login}, options...)...)
	r := render.New(render.Config{Tabs: 1, Pages: 1000}, slog.New(slog.DiscardHandler))
	t.Cleanup(r.Close)
	s.Render(r, false)
	return s
}

// If a site leads to its login, the browser logs in, and the page is fetched again within the
// visit; the next pages are requested with the cookie that a script of the site has set.
func TestPagesBehindALoginThatSetsACookie(t *testing.T) {
	w := scriptweb.Start(t)
	s := newLoginFixture(t, w, scriptweb.ClubLogin)
	for n := range 3 {
		h := s.get(w.URL(scriptweb.ClubPath(n)))
		h.wants(t, messages.OK)
		if !strings.Contains(string(h.body), scriptweb.MemberText(n)) {
			t.Errorf("page %d is %s", n, h.body)
		}
		if asked, want := w.CountRequests(scriptweb.ClubPath(n)), map[int]int{0: 2}[n]; asked != max(1, want) {
			t.Errorf("page %d was asked for %d times", n, asked)
		}
		wantNoPassword(t, h)
	}
	if n := w.Sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// wantNoPassword checks that no message has the password, including the archived requests and
// responses of the login.
func wantNoPassword(t *testing.T, h handled) {
	t.Helper()
	for _, m := range h.out.Messages() {
		if strings.Contains(string(m.Data)+fmt.Sprint(m.Header), scriptweb.MemberPassword) {
			t.Errorf("a message has the password: %s %s", m.Subject, m.Data)
		}
	}
}

// A page whose missing session only its scripts detect is rendered again, and the result has no
// secret.
func TestPagesBehindALoginInTheStorage(t *testing.T) {
	w := scriptweb.Start(t)
	w.EndSessionsAfter(1)
	s := newLoginFixture(t, w, scriptweb.MembersLogin)
	for n := range 2 {
		h := s.get(w.URL(scriptweb.MembersPath(n)))
		h.wants(t, messages.OK)
		if !strings.Contains(string(h.body), scriptweb.MemberText(n)) {
			t.Errorf("page %d is %s", n, h.body)
		}
		if !slices.ContainsFunc(h.answers, func(a answered) bool {
			return strings.Contains(a.body, "careless") && strings.HasPrefix(a.request, "POST ")
		}) {
			t.Errorf("the archive is without the login: %+v", h.answers)
		}
		wantNoPassword(t, h)
	}
	if n := w.Sessions(); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// A failed login is retried like a host that does not respond; a page that still requires a login
// after it is refused; a missing secret is reported. None of these reports contains a secret.
func TestPagesWhoseLoginFails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *crawlspec.Render)
		class  messages.Class
		detail messages.Detail
		text   string
	}{
		"script": {func(r *crawlspec.Render) { r.Login.Script = "throw new Error(secrets.password)" }, messages.Timeout, messages.DetailLogin, "its script fails"},
		"useless": {func(r *crawlspec.Render) { r.Login.Script, r.Login.Wait.Selector = "0", "form" }, messages.ClientError, messages.DetailLogin,
			"the site wants a login right after that of the spec"},
		"no secret": {func(r *crawlspec.Render) { r.Login.Secrets["other"] = "{secret:NOBODY_KNOWS}" }, messages.Misconfigured, "", "secret NOBODY_KNOWS is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			w := scriptweb.Start(t)
			s := newLoginFixture(t, w, scriptweb.ClubLogin, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { c.change(s.Render) })
			h := s.get(w.URL(scriptweb.ClubPath(1)))
			if h.Class != c.class || h.Detail != c.detail || !strings.Contains(h.Error, c.text) || strings.Contains(h.Error, scriptweb.MemberPassword) {
				t.Errorf("it ends as %s (%s): %s", h.Class, h.Detail, h.Error)
			}
		})
	}
}
