package render

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"seine/internal/render/pageproxy"
	"seine/internal/testing/scriptweb"
	"seine/pkg/crawlspec"
)

// memberLogin returns a login at a path of the test web.
func memberLogin(w *scriptweb.Web, path string) *crawlspec.RenderLogin {
	return &crawlspec.RenderLogin{
		URL: w.URL(path), Script: scriptweb.MemberScript, When: scriptweb.NoMember,
		Wait: crawlspec.RenderWait{Until: crawlspec.UntilIdle, Selector: "#hello"},
	}
}

// memberJob returns a job for a page behind a login.
func memberJob(t *testing.T, w *scriptweb.Web, path string, login *crawlspec.RenderLogin) *Job {
	t.Helper()
	job := jobFor(t, w, scriptweb.Page{Path: path})
	job.How.Login = login
	job.Secrets = map[string]string{"user": scriptweb.MemberName, "password": scriptweb.MemberPassword}
	return job
}

// shows renders a page that must have a text, and returns it.
func shows(t *testing.T, r *Renderer, job *Job, text string) *Page {
	t.Helper()
	p, err := r.Render(t.Context(), job)
	if err != nil {
		t.Fatalf("%s: %v", job.Main.URL, err)
	}
	if !strings.Contains(string(p.HTML), text) {
		t.Errorf("%s is without %q: %s", job.Main.URL, text, p.HTML)
	}
	return p
}

// A tab logs in before its first page, and again if a page shows that its session has ended. That
// page is shown once more, and the requests of both count for it.
func TestTabLogsInFirstAndWhenItsSessionEnds(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	w.EndSessionsAfter(2)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	for n, want := range []struct{ sessions, requests int }{
		{1, 3}, // the login page, its form, and the data of the page
		{1, 1}, {2, 4}, {2, 1},
	} {
		job := memberJob(t, w, scriptweb.MembersPath(n), memberLogin(w, scriptweb.MembersLogin))
		p := shows(t, r, job, scriptweb.MemberText(n))
		if got := w.Sessions(); got != want.sessions || p.Totals.Requests != want.requests {
			t.Errorf("page %d: %d sessions and %d requests, want %+v", n, got, p.Totals.Requests, want)
		}
	}
	if n := w.CountRequests(scriptweb.MembersData(2)); n != 2 {
		t.Errorf("the page whose session had ended asks %d times for its data", n)
	}
}

// A page of another crawl needs its own login: no session is shared.
func TestSessionsOfCrawlsAreApart(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	for n, crawl := range []string{"one", "other"} {
		job := memberJob(t, w, scriptweb.MembersPath(n), memberLogin(w, scriptweb.MembersLogin))
		job.Crawl = crawl
		shows(t, r, job, scriptweb.MemberText(n))
	}
	if n := w.Sessions(); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// A failed login fails the page with the reason, and its secrets are sent to no other origin.
func TestLoginThatFails(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	for name, c := range map[string]struct {
		change func(job *Job)
		want   string
	}{
		"script throws": {func(j *Job) { j.How.Login.Script = "throw new Error('no button ' + secrets.user)" }, "its script fails: Error: no button ada"},
		"no script":     {func(j *Job) { j.How.Login.Script = "no script" }, "its script fails: SyntaxError: "},
		"no end": {func(j *Job) {
			j.How.Login.When, j.Secrets["password"], j.How.Timeout = "false", "wrong", crawlspec.Duration(1_500_000_000)
		},
			"its wait condition was not met within 1.5s"},
		"no page": {func(j *Job) { j.How.Login.URL = w.URL("/missing") }, "its page is answered with status 404"},
		"no site": {func(j *Job) { j.How.Login.URL = "https://127.0.0.1:9876/" }, "its page is answered with status 50"},
		"not asked": {func(j *Job) {
			j.Allow = func(context.Context, *http.Request) error { return errors.New("robots.txt forbids it") }
		}, "its page may not be requested: robots.txt forbids it"},
		"elsewhere": {func(j *Job) {
			j.Transport, j.How.Login.URL = guarded{w.Origin(), w.Other()}, w.URL("/attack-redirect/fetch")
		}, "its URL leads to " + w.Other() + ", which the secrets are not for"},
	} {
		t.Run(name, func(t *testing.T) {
			job := memberJob(t, w, scriptweb.MembersPath(1), memberLogin(w, scriptweb.MembersLogin))
			c.change(job)
			_, err := r.Render(t.Context(), job)
			failed := (*Error)(nil)
			if !errors.As(err, &failed) || failed.Kind != LoginFailed || !strings.Contains(failed.Text, "the login at "+job.How.Login.URL+" failed: "+c.want) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// A login that the site refuses is sent once: other pages of the crawl fail without it, until its
// secrets or the spec change.
func TestRefusedLoginIsSentOnce(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	for n, c := range []struct {
		password, crawl, want string
		kind                  Kind
		sent                  int
	}{
		{"wrong", "a 1", "the site has refused it: check the secrets and the script", LoginRefused, 1},
		{"wrong", "a 1", "it is not tried again until the spec changes or the process restarts", LoginFailed, 1},
		{"wrong", "a 2", "the site has refused it", LoginRefused, 2},
		{"wrong", "a 2", "it is not tried again", LoginFailed, 2},
		{scriptweb.MemberPassword, "a 2", "", "", 3},
	} {
		job := memberJob(t, w, scriptweb.MembersPath(1), memberLogin(w, scriptweb.MembersLogin))
		job.Crawl, job.Secrets["password"], job.How.Timeout = c.crawl, c.password, crawlspec.Duration(5*time.Second)
		_, err := r.Render(t.Context(), job)
		failed, ok := errors.AsType[*Error](err)
		if ok != (c.want != "") || ok && (failed.Kind != c.kind || !strings.Contains(failed.Text, c.want)) {
			t.Errorf("%d: it ends with %v", n, err)
		}
		if sent := w.CountRequests("/members/session"); sent != c.sent {
			t.Errorf("%d: the login was sent %d times, want %d", n, sent, c.sent)
		}
	}
}

// A login whose page is idle and does not meet its wait condition is not awaited any longer, and
// sent once.
func TestLoginThatDoesNotMeetItsWaitIsSentOnce(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	for _, want := range []string{"its page is idle, and its wait condition is not met", "it is not tried again"} {
		login := memberLogin(w, scriptweb.MembersLogin)
		login.Wait = crawlspec.RenderWait{Selector: "#never"}
		_, err := r.Render(t.Context(), memberJob(t, w, scriptweb.MembersPath(1), login))
		if failed, ok := errors.AsType[*Error](err); !ok || !strings.Contains(failed.Text, want) {
			t.Errorf("it ends with %v, want %s", err, want)
		}
	}
	if sent := w.CountRequests("/members/session"); sent != 1 {
		t.Errorf("the login was sent %d times", sent)
	}
}

// A page that shows no session right after a login fails, and so does one that redirects to the
// login.
func TestPageWithoutASessionFails(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	always := memberLogin(w, scriptweb.MembersLogin)
	always.When = "true"
	leads := &crawlspec.RenderLogin{URL: w.URL("/location-redirect/target"), Script: "0"}
	for path, login := range map[string]*crawlspec.RenderLogin{scriptweb.MembersPath(1): always, "/location-redirect": leads} {
		_, err := r.Render(t.Context(), memberJob(t, w, path, login))
		if failed := (*Error)(nil); !errors.As(err, &failed) || failed.Kind != NoSession {
			t.Errorf("%s ends with %v", path, err)
		}
	}
}

// The requests of a login are not recorded, and its script gets the secrets.
func TestRecordHasNoBodiesThatALoginSends(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	job := memberJob(t, w, scriptweb.MembersPath(1), memberLogin(w, scriptweb.MembersLogin))
	var mu sync.Mutex
	var all []pageproxy.Exchange
	job.MaxRecorded = 1 << 20
	job.Record = func(x pageproxy.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, x)
	}
	shows(t, r, job, scriptweb.MemberText(1))
	if !slices.ContainsFunc(all, func(x pageproxy.Exchange) bool { return x.Method == http.MethodPost && len(x.RequestBody) == 0 }) {
		t.Errorf("the login is not recorded, or with what it sends: %+v", all)
	}
}

// The job gets the cookies that scripts set in the login before it fetches the document again, and
// that document is shown.
func TestDocumentIsFetchedAgainWithTheCookiesOfTheLogin(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	job := memberJob(t, w, scriptweb.ClubPath(1), memberLogin(w, scriptweb.ClubLogin))
	var cookie, of string
	job.GiveCookie = func(url, field string) { of, cookie = url, field }
	job.Again = func(context.Context) (*pageproxy.Document, error) {
		name, _, _ := strings.Cut(cookie, ";")
		return &pageproxy.Document{URL: job.Main.URL, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<p>fetched with " + name)}, nil
	}
	shows(t, r, job, "fetched with club=token-1")
	if cookie != "club=token-1; Path=/club" || of != job.Main.URL {
		t.Errorf("%q of %s", cookie, of)
	}
}

// If the document no longer exists after the login, the page is gone, and the tab keeps its
// session.
func TestDocumentMayBeGoneAfterTheLogin(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	for range 2 {
		job := memberJob(t, w, scriptweb.MembersPath(1), memberLogin(w, scriptweb.MembersLogin))
		job.LoggedOut, job.Again = true, func(context.Context) (*pageproxy.Document, error) { return nil, nil }
		if p, err := r.Render(t.Context(), job); err != nil || !p.Gone {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	if n := w.Sessions(); n != 1 {
		t.Errorf("%d sessions: what was asked before a login needs no other", n)
	}
}

// Stored data is cleared after each page, unless it is kept for the crawl.
func TestStorageOfPages(t *testing.T) {
	t.Parallel()
	w := scriptweb.Start(t)
	for keep, want := range map[crawlspec.RenderStorage]string{crawlspec.StoragePage: scriptweb.JarEmpty, crawlspec.StorageCrawl: scriptweb.JarFull} {
		r := start(t, Config{Tabs: 1, Pages: 1000})
		var set []string
		for _, name := range []string{"cookies-set", "cookies"} {
			p := scriptweb.Named(name)
			job := jobFor(t, w, p)
			job.How.Storage = keep
			job.GiveCookie = func(_, field string) { set = append(set, field) }
			text := want
			if name == "cookies-set" {
				text = p.Text[0]
			}
			shows(t, r, job, text)
		}
		if len(set) != 1 || !strings.HasPrefix(set[0], "crumb=baked;") {
			t.Errorf("%s: scripts have set %q", keep, set)
		}
	}
}
