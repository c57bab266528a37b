package fetcher

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/internal/testing/rawserver"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// How much of the body of a response that is not a page is kept.
const (
	keptOfErrors    = 256 << 10
	keptOfRedirects = 16 << 10
)

const challengePage = `<html><head><script id="anubis_challenge" type="application/json">{}</script></head></html>`

func archivedToo(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
	s.Archive, s.Contact = true, "ops@example.org"
}

// wantsAnswers checks class, status and path of the archived responses, in order.
func (h handled) wantsAnswers(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, a := range h.answers {
		got = append(got, fmt.Sprintf("%s %d %s", a.Class, a.Status, a.URL[strings.Index(a.URL[8:], "/")+8:]))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("answers %q, want %q", got, want)
	}
}

// An archive contains the wire form of responses that are not pages.
func TestAnswersAreArchived(t *testing.T) {
	long := strings.Repeat("none of it, ", keptOfErrors/10)
	for _, c := range []struct {
		name, reply, body string
		class             messages.Class
		truncated         messages.Truncation
		kept              int // bytes of the body, all if 0
	}{
		{name: "redirect", reply: "302 Found\r\nlocation: /b", body: "<a href=/b>there</a>", class: messages.Redirect},
		{name: "redirect with a long notice", reply: "302 Found\r\nlocation: /b", body: long[:keptOfRedirects+1], class: messages.Redirect,
			truncated: messages.TruncatedLength, kept: keptOfRedirects},
		{name: "redirect that leads nowhere", reply: "302 Found", body: "?", class: messages.ClientError},
		{name: "not there", reply: "404 Nope\r\nx-ODD:  spelt", body: "<p>nothing</p>", class: messages.Gone},
		{name: "gone", reply: "410 Gone", class: messages.Gone},
		{name: "forbidden", reply: "403 Forbidden", body: "no", class: messages.ClientError},
		{name: "patience", reply: "429 Slow Down\r\nRetry-After: 3", body: "later", class: messages.Throttled},
		{name: "broken", reply: "500 Oops", body: string(gzipped([]byte("stack trace"))), class: messages.ServerError},
		{name: "no status of HTTP", reply: "999 Denied", body: "go away", class: messages.ProtocolError},
		{name: "challenge", reply: "403 Forbidden\r\ncf-mitigated: challenge\r\nContent-Type: text/html", body: "<p>wait</p>", class: messages.Blocked},
		{name: "challenge in the place of a page", reply: "200 OK\r\nContent-Type: text/html", body: challengePage, class: messages.Blocked},
		{name: "challenge in gzip", reply: "429 No\r\nContent-Type: text/html\r\nContent-Encoding: gzip", body: string(gzipped([]byte(challengePage))), class: messages.Blocked},
		{name: "long", reply: "404 Not Found", body: long, class: messages.Gone, truncated: messages.TruncatedLength, kept: keptOfErrors},
		{name: "as long as it may be", reply: "404 Not Found", body: long[:keptOfErrors], class: messages.Gone},
	} {
		t.Run(c.name, func(t *testing.T) {
			head := "HTTP/1.1 " + c.reply + "\r\nContent-Length: " + fmt.Sprint(len(c.body)) + "\r\n\r\n"
			r := rawserver.New(t, func(int) (string, bool) { return head + c.body, true })
			s := newFetcherFixture(t, archived)
			h := s.get(r.URL + "/a")
			h.wants(t, c.class)
			var status int
			_, _ = fmt.Sscan(c.reply, &status)
			h.wantsAnswers(t, fmt.Sprintf("%s %d /a", c.class, status))
			a, body := h.answers[0], c.body
			if c.kept > 0 {
				body = body[:c.kept]
			}
			if a.head != head || a.body != body || a.Truncated != c.truncated || a.BodySize != int64(len(body)) {
				t.Errorf("head %q, %d bytes, truncated %q", a.head, len(a.body), a.Truncated)
			}
			if !strings.HasPrefix(a.request, "GET /a HTTP/1.1\r\nHost: ") || a.IP != "127.0.0.1" || a.Robots != "ignore" || a.Protocol != "HTTP/1.1" {
				t.Errorf("request %q, %+v", a.request, a.Page)
			}
			if want := messages.VisitID(testCrawl, a.Visit) + ".answer.1.0"; a.id != want || a.Referrer != "http://referrer.example/" || a.Depth != 2 {
				t.Errorf("%s, want %s: %+v", a.id, want, a.Page)
			}
		})
	}
}

// The received part of an incomplete body is kept, without other effects.
func TestAnswerThatIsCutShort(t *testing.T) {
	r := rawserver.New(t, func(int) (string, bool) {
		return "HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\nsome of it", false
	})
	s := newFetcherFixture(t, archived)
	h := s.get(r.URL + "/a")
	h.wants(t, messages.Gone)
	h.wantsAnswers(t, "gone 404 /a")
	if a := h.answers[0]; a.body != "some of it" || a.Truncated != messages.TruncatedDisconnect {
		t.Errorf("body %q, truncated %q", a.body, a.Truncated)
	}
}

// The received part of an unusable page is kept, with the reason why the rest is missing.
func TestPageThatIsCutShort(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	page := strings.Repeat("<p>It is long.</p>\n", 60_000) // 1.1 MB
	zipped := string(gzipped([]byte(page)))
	for name, c := range map[string]struct {
		reply     string
		maxBody   crawlspec.Bytes
		class     messages.Class
		truncated messages.Truncation
		body      string
	}{
		"less than its length":    {reply: ok + "Content-Length: 100\r\n\r\nsome of it", class: messages.ProtocolError, truncated: messages.TruncatedDisconnect, body: "some of it"},
		"in the middle of chunks": {reply: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nsome \r\n9\r\nof", class: messages.ProtocolError, truncated: messages.TruncatedDisconnect, body: "some of"},
		"in the middle of gzip": {
			reply: ok + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", len(zipped)) + zipped[:50], class: messages.ProtocolError,
			truncated: messages.TruncatedDisconnect, body: zipped[:50],
		},
		"no gzip":         {reply: ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain", class: messages.BadEncoding, body: "plain"},
		"over the limit":  {reply: ok + "\r\n" + page[:5000], maxBody: 4000, class: messages.TooLarge, truncated: messages.TruncatedLength, body: page[:4000]},
		"says how much":   {reply: ok + "Content-Length: 5000\r\n\r\n" + page[:5000], maxBody: 4000, class: messages.TooLarge, truncated: messages.TruncatedLength, body: page[:4000]},
		"gzip over it":    {reply: ok + "Content-Encoding: gzip\r\n\r\n" + zipped, maxBody: 64 << 10, class: messages.TooLarge, truncated: messages.TruncatedLength, body: zipped},
		"large, and less": {reply: ok + "Content-Length: 9000000\r\n\r\n" + page, class: messages.ProtocolError, truncated: messages.TruncatedLength, body: page[:messages.InlineBody]},
		"not wanted":      {reply: "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 3\r\n\r\npng", class: messages.UnsupportedType},
	} {
		t.Run(name, func(t *testing.T) {
			r := rawserver.New(t, func(int) (string, bool) { return c.reply, false })
			s := newFetcherFixture(t, archived, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) {
				s.MaxBody = cmp.Or(c.maxBody, 16<<20)
			})
			h := s.get(r.URL + "/a")
			h.wants(t, c.class)
			if c.body == "" {
				h.wantsAnswers(t)
				return
			}
			h.wantsAnswers(t, fmt.Sprintf("%s 200 /a", c.class))
			a, body := h.answers[0], c.body
			if room := messages.InlineBody - len(a.request) - len(a.head); len(body) > room {
				body = body[:room]
			}
			if a.body != body || a.Truncated != c.truncated || !strings.HasPrefix(c.reply, a.head) {
				t.Errorf("head %q, %d bytes, want %d, truncated %q", a.head, len(a.body), len(body), a.Truncated)
			}
		})
	}
}

// Without archive: true, no responses are archived, and no more of an error body is read.
func TestWithoutAnArchiveThereAreNoAnswers(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	r := rawserver.New(t, func(int) (string, bool) {
		return "HTTP/1.1 404 Not Found\r\nContent-Length: 1048576\r\n\r\n" + long, false
	})
	s := newFetcherFixture(t, ignoreRobots)
	h := s.get(r.URL + "/a")
	h.wants(t, messages.Gone)
	if len(h.answers) > 0 || h.BytesWire > 0 {
		t.Errorf("%d answers, %d bytes read", len(h.answers), h.BytesWire)
	}
}

// Each hop of a redirect that the fetcher follows is archived, and the page under the URL that it
// came from.
func TestHopsAreArchived(t *testing.T) {
	s := newFetcherFixture(t, archived)
	hops := map[string]string{"/d/a4": "a4;jsessionid=1", "/d/a4;jsessionid=1": "a4;jsessionid=2", "/d/a4;jsessionid=2": ""}
	for path, to := range hops {
		s.web.Handle(0, path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			if to != "" {
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusFound)
			}
			fmt.Fprint(w, "body of "+to)
		})
	}
	h := s.get(s.url("/d/a4"))
	h.wants(t, messages.OK)
	h.wantsAnswers(t, "redirect 302 /d/a4", "redirect 302 /d/a4;jsessionid=1")
	first, second := h.answers[0], h.answers[1]
	if first.body != "body of a4;jsessionid=1" || second.body != "body of a4;jsessionid=2" || second.Referrer != first.URL || second.Visit != first.Visit {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if !strings.HasSuffix(first.id, ".answer.1.0") || !strings.HasSuffix(second.id, ".answer.1.1") {
		t.Errorf("identities %s, %s", first.id, second.id)
	}
	if h.page.URL != s.url("/d/a4") || h.page.Asked != s.url("/d/a4;jsessionid=2") {
		t.Errorf("page of %s, asked for as %s", h.page.URL, h.page.Asked)
	}
	// A redirect to another URL is the last hop; the frontier sends its target.
	s.web.Handle(0, "/d/a4;jsessionid=2", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusFound)
	})
	h = s.get(s.url("/d/a4"))
	h.wants(t, messages.Redirect)
	h.wantsAnswers(t, "redirect 302 /d/a4", "redirect 302 /d/a4;jsessionid=1", "redirect 302 /d/a4;jsessionid=2")
}

func TestNotModifiedIsArchived(t *testing.T) {
	r := rawserver.New(t, func(int) (string, bool) { return "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n", true })
	s := newFetcherFixture(t, archived)
	req := request(r.URL + "/a")
	req.ETag = `"x"`
	h := s.handle1(req, 1)
	h.wants(t, messages.NotModified)
	h.wantsAnswers(t, "not_modified 304 /a")
	if a := h.answers[0]; !strings.Contains(a.request, "If-None-Match: \"x\"\r\n") || a.body != "" || a.Truncated != "" {
		t.Errorf("%+v", a)
	}
}

// A robots.txt is archived, with each hop, only by the turn that requests it, whatever the
// response.
func TestRobotsIsArchived(t *testing.T) {
	rules := "User-agent: *\nDisallow: /private\n"
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		class  messages.Class
		want   []string
		bodies []string
	}{
		"there": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, rules) }, messages.OK,
			[]string{"robots_fetched 200 /robots.txt"}, []string{rules}},
		"in gzip": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(gzipped([]byte(rules)))
		}, messages.OK, []string{"robots_fetched 200 /robots.txt"}, []string{rules}},
		"not there": {http.NotFound, messages.OK, []string{"robots_fetched 404 /robots.txt"}, []string{"404 page not found\n"}},
		"not to be had": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) }, messages.ServerError,
			[]string{"robots_fetched 503 /robots.txt"}, []string{"down\n"}},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery == "" {
				http.Redirect(w, r, "/robots.txt?v=2", http.StatusMovedPermanently)
				return
			}
			fmt.Fprint(w, rules)
		}, messages.OK, []string{"robots_fetched 301 /robots.txt", "robots_fetched 200 /robots.txt?v=2"},
			[]string{"<a href=\"/robots.txt?v=2\">Moved Permanently</a>.\n\n", rules}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFetcherFixture(t, archivedToo)
			s.web.Handle(0, "/robots.txt", c.handle)
			h := s.get(s.url("/"))
			h.wants(t, c.class)
			h.wantsAnswers(t, c.want...)
			for n, a := range h.answers {
				if a.body != c.bodies[n] || a.Contact != "ops@example.org" || a.Robots != "obey" || !strings.HasSuffix(a.id, fmt.Sprintf(".robots.1.%d", n)) {
					t.Errorf("%s: body %q, %+v", a.id, a.body, a.Page)
				}
				if strings.Contains(a.head, "\r\nContent-Encoding: ") || (name == "in gzip") != strings.Contains(a.head, "X-Orig-Content-Encoding: gzip\r\n") {
					t.Errorf("head %q", a.head)
				}
			}
			if first := h.answers[0]; first.Referrer != s.url("/") {
				t.Errorf("robots.txt was asked for by %s", first.Referrer)
			}
			if c.class == messages.OK {
				if h := s.get(s.url("/special/ok")); len(h.answers) > 0 {
					t.Errorf("it is archived again: %+v", h.answers)
				}
			}
		})
	}
}

// Archived responses contain no secret that a site repeats, however the body is encoded.
func TestAnswersHaveNoSecrets(t *testing.T) {
	t.Setenv("SEINE_SECRET_KEY", redactKey)
	t.Setenv("SEINE_SECRET_TOKEN", redactToken)
	// A limit that would cut the secret in two must not leave its first half.
	text := strings.Repeat("-", keptOfErrors-len(redactToken)/2) + redactToken
	for name, zipped := range map[string]bool{"plain": false, "gzip": true} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Token", r.Header.Get("X-Token"))
				w.Header().Set("Content-Type", "text/plain")
				body := []byte("token " + redactToken)
				if r.URL.Path == "/long" {
					body = []byte(text)
				}
				if zipped {
					w.Header().Set("Content-Encoding", "gzip")
					body = gzipped(body)
				}
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write(body)
			}))
			t.Cleanup(srv.Close)
			s := withSpec(t, "archive: true\nsources:\n- hosts: ['"+srv.URL+"']\n  headers: {X-Token: '{secret:TOKEN}', X-Key: '{secret:KEY}'}\n")
			for path, want := range map[string]string{
				"/a": "token " + strings.Repeat("x", len(redactToken)), "/long": text[:keptOfErrors-len(redactToken)/2] + strings.Repeat("x", len(redactToken)/2),
			} {
				h := s.get(srv.URL + path)
				h.wants(t, messages.Gone)
				h.wantsAnswers(t, "gone 404 "+path)
				wantNoSecret(t, h)
				a := h.answers[0]
				if a.body != want || strings.Contains(a.request, "X-Token") {
					t.Errorf("%s: %d bytes that end in %.80q, request %q", path, len(a.body), a.body[max(0, len(a.body)-80):], a.request)
				}
				if zipped != strings.Contains(a.head, "X-Orig-Content-Encoding: gzip\r\n") {
					t.Errorf("head %q", a.head)
				}
			}
		})
	}
}
