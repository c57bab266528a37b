package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"seine/internal/testing/openapiclient"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
)

// served starts `seine serve` and returns its URL.
func served(t *testing.T, args ...string) (c *command, url string) {
	t.Helper()
	c = seine(t, "", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	return c, addressOf(t, c.stdout)
}

// addressOf returns the URL where a command says that it serves.
func addressOf(t *testing.T, out *logBuffer) (url string) {
	t.Helper()
	at := regexp.MustCompile(`serving at (http://\S+)/`)
	eventually(t, patience, "say where it serves", func() (bool, string) {
		if m := at.FindStringSubmatch(out.String()); m != nil {
			url = m[1]
		}
		return url != "", out.String()
	})
	return url
}

// ask sends a request to the API and returns the status and the answer.
func ask(t *testing.T, method, url, body string) (status int, answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if !strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "text/plain")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		t.Fatalf("%s %s: %d %s, %v", method, url, resp.StatusCode, text, err)
	}
	return resp.StatusCode, answer
}

// awaitDone waits until a crawl is complete with a number of done URLs.
func awaitDone(t *testing.T, url, crawl string, done int) {
	t.Helper()
	eventually(t, patience, fmt.Sprintf("have done %d URLs", done), func() (bool, string) {
		_, c := ask(t, "GET", url+"/api/v1/crawls/"+crawl, "")
		return c["done"] == float64(done) && c["end"] == "complete", fmt.Sprint(c)
	})
}

// A program creates a crawl on an empty server, adds URLs after its end, and stops and starts the
// server.
func TestServeRunsCrawlsThatTheAPIBegins(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 5})
	p := newWorkspace(t)
	c, url := served(t, "--data", p.data, "--out", p.out, "--allow-private")
	if _, s := ask(t, "GET", url+"/api/v1/status", ""); s["mode"] != "empty" {
		t.Errorf("%v", s)
	}
	body := fmt.Sprintf(`{"name": "news", "spec": {"allow_private": true, "delay": "0s", "max_depth": 0}, "seeds": [%q]}`, site.seed)
	if status, a := ask(t, "POST", url+"/api/v1/crawls", body); status != http.StatusCreated || a["name"] != "news" {
		t.Fatalf("%d %v", status, a)
	}
	awaitDone(t, url, "news", 1)
	if status, a := ask(t, "POST", url+"/api/v1/crawls/news/seeds", site.pages[1]+"\n"+site.pages[2]+"\n"); status != 200 || a["fed"] != 2.0 {
		t.Fatalf("%d %v", status, a)
	}
	awaitDone(t, url, "news", 3)
	second := strings.Replace(body, "news", "more", 1)
	if status, a := ask(t, "POST", url+"/api/v1/crawls", second); status != http.StatusCreated {
		t.Fatalf("%d %v", status, a)
	}
	awaitDone(t, url, "more", 1)
	eventually(t, patience, "have the record of the crawl", func() (bool, string) {
		status, a := ask(t, "GET", url+"/api/v1/records?crawl=more", "")
		items, _ := a["items"].([]any)
		return len(items) == 1, fmt.Sprint(status, a["detail"])
	})
	c.signal(syscall.SIGTERM)
	c.expect(0)
	_, url = served(t, "--data", p.data, "--read-only")
	awaitDone(t, url, "news", 3)
	if status, a := ask(t, "POST", url+"/api/v1/crawls/news/pause", ""); status != http.StatusForbidden || !strings.Contains(fmt.Sprint(a["detail"]), "--read-only") {
		t.Errorf("%d %v", status, a)
	}
	status, a := ask(t, "GET", url+"/api/v1/records?crawl=more", "")
	if items, _ := a["items"].([]any); len(items) != 1 {
		t.Errorf("%d, %d records, %v", status, len(items), a["detail"])
	}
}

// Records of a crawl can be read while it runs. After a crawl ends, its records are committed and
// the server continues to run for the others.
func TestServedCrawlsRunBesideEachOther(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 20})
	p := newWorkspace(t)
	c, url := served(t, "--data", p.data, "--out", p.out, "--allow-private")
	records := func(crawl string) int {
		_, a := ask(t, "GET", url+"/api/v1/records?crawl="+crawl, "")
		items, _ := a["items"].([]any)
		return len(items)
	}
	begin := func(name, spec string) {
		t.Helper()
		body := fmt.Sprintf(`{"name": %q, "spec": {"allow_private": true, %s}, "seeds": [%q]}`, name, spec, site.seed)
		if status, a := ask(t, "POST", url+"/api/v1/crawls", body); status != http.StatusCreated {
			t.Fatalf("%d %v", status, a)
		}
	}
	begin("first", `"delay": "0s", "max_depth": 0, "state": "paused"`)
	begin("long", `"delay": "3s"`)
	if status, a := ask(t, "POST", url+"/api/v1/crawls/first/resume", ""); status != http.StatusOK {
		t.Fatalf("%d %v", status, a)
	}
	awaitDone(t, url, "first", 1)
	for _, name := range []string{"first", "long"} {
		eventually(t, patience, "have records of the crawl "+name, func() (bool, string) { return records(name) > 0, c.stderr.String() })
	}
	if _, long := ask(t, "GET", url+"/api/v1/crawls/long", ""); long["end"] == "complete" {
		t.Errorf("records came at the end: %v", long)
	}
	if text := c.stderr.String(); strings.Contains(text, "a crawl ended") {
		t.Errorf("the stages ended with the first crawl:\n%s", text)
	}
	if status, a := ask(t, "POST", url+"/api/v1/crawls/long/cancel", ""); status != http.StatusOK {
		t.Fatalf("%d %v", status, a)
	}
	eventually(t, patience, "end with the last crawl", func() (bool, string) {
		text := c.stderr.String()
		return strings.Count(text, "a crawl ended") == 1 && strings.Contains(text, "crawl=first outcome=complete"), text
	})
}

// After its server was killed, a crawl is shown as stopped by the next server, and its page has the
// button that resumes it.
func TestKilledServerGoesOnByAPage(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 40})
	p := newWorkspace(t)
	args := []string{"--data", p.data, "--out", p.out, "--allow-private"}
	first, url := served(t, args...)
	body := fmt.Sprintf(`{"name": "news", "spec": {"allow_private": true, "delay": "100ms"}, "seeds": [%q]}`, site.seed)
	if status, a := ask(t, "POST", url+"/api/v1/crawls", body); status != http.StatusCreated {
		t.Fatalf("%d %v", status, a)
	}
	eventually(t, patience, "fetch a page", func() (bool, string) {
		_, c := ask(t, "GET", url+"/api/v1/crawls/news", "")
		done, _ := c["done"].(float64)
		return done > 0, fmt.Sprint(c)
	})
	first.signal(syscall.SIGKILL)
	<-first.gone
	_, url = served(t, args...)
	eventually(t, patience, "say that nobody works on it", func() (bool, string) {
		_, c := ask(t, "GET", url+"/api/v1/crawls/news", "")
		return c["idle"] == true, fmt.Sprint(c)
	})
	eventually(t, patience, "offer on its page to go on", func() (bool, string) {
		resp, err := http.Get(url + "/crawls/news")
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		return err == nil && strings.Contains(string(page), "No process works on it") && strings.Contains(string(page), `action="/crawls/news/resume"`), string(page)
	})
	resp, err := http.PostForm(url+"/crawls/news/resume", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	awaitDone(t, url, "news", len(site.pages))
}

// A client generated from the OpenAPI document runs a complete crawl: it starts it, waits for its
// end, reads its records and deletes it. The client's compiler finds errors in the document.
func TestGeneratedClientCrawls(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 10})
	p := newWorkspace(t)
	_, url := served(t, "--data", p.data, "--out", p.out, "--allow-private")
	var got []messages.Record
	if err := json.Unmarshal(openapiclient.Crawl(t, url, "news", site.seed), &got); err != nil {
		t.Fatal(err)
	}
	wantPages(t, got, site.pages)
}

// `seine crawl --serve` prints its URL and serves until the crawl has ended.
func TestCrawlServes(t *testing.T) {
	t.Parallel()
	_, web := testSite(t, testweb.Config{PagesPerHost: 2})
	site := testweb.Run(t, web)
	g := newGate(t, web, "/gate")
	p := newWorkspace(t)
	c := p.crawl("--serve=127.0.0.1:0", site.URL(0, "/gate"))
	url := addressOf(t, c.stderr)
	g.wait(t)
	eventually(t, patience, "tell of the crawl", func() (bool, string) {
		status, a := ask(t, "GET", url+"/api/v1/crawls/default", "")
		return status == 200 && a["in_flight"] == 1.0, fmt.Sprint(a)
	})
	g.open()
	c.expect(0)
	if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
		_ = conn.Close()
		t.Error("it serves when the crawl has ended")
	}
}

// A server that anyone could reach without a token does not start, because it would give everyone
// full access.
func TestServeRefusesToBeOpen(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--listen", ":0"}, {"--listen", "0.0.0.0:0"}, {"--tokens", filepath.Join(t.TempDir(), "none")}} {
		out := runSeine(t, append([]string{"serve", "--data", t.TempDir()}, args...)...)
		if out.code() != 2 || !strings.Contains(out.stderr.String(), "seine token create") {
			t.Errorf("%s: %d, %s", args, out.code(), out.said())
		}
	}
	tokens := filepath.Join(t.TempDir(), "tokens.json")
	made := runSeine(t, "token", "create", "laptop", "--tokens", tokens)
	secret := strings.TrimSpace(made.stdout.String())
	_, url := served(t, "--data", t.TempDir(), "--tokens", tokens)
	get := func() int {
		req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/api/v1/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if status := get(); status != http.StatusOK {
		t.Errorf("with the token: %d", status)
	}
	wantOutput(t, runSeine(t, "token", "list", "--tokens", tokens), "laptop", "read")
	wantOutput(t, runSeine(t, "token", "revoke", "laptop", "--tokens", tokens), "revoked")
	if status := get(); status != http.StatusUnauthorized {
		t.Errorf("with a token that was revoked: %d", status)
	}
}

// A server does not report readiness before it listens. It never does if it cannot listen.
func TestServeListensBeforeItIsReady(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out := runSeine(t, "serve", "--data", t.TempDir(), "--listen", l.Addr().String(), "--metrics", "127.0.0.1:0")
	out.expect(1)
	out.complains("address already in use")
	if strings.Contains(out.said(), "serving metrics") {
		t.Errorf("it reports before it listens: %s", out.said())
	}
}

// Every example of docs/reference/api.md for a server on this machine works as described.
func TestExamplesOfTheAPI(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	site, _ := testSite(t, testweb.Config{PagesPerHost: 5})
	p := newWorkspace(t)
	_, url := served(t, "--data", p.data, "--out", p.out, "--allow-private")
	spec := `"spec": {"allow_private": true, "delay": "0s"`
	to := strings.NewReplacer("localhost:8077", strings.TrimPrefix(url, "http://"), "https://example.org/", site.seed, `"spec": {`, spec+`, `,
		`"spec": "`, `"spec": "allow_private: true\n`, `{"url": "`+"https://example.org/"+`"}`, `{"url": "`+site.seed+`", `+spec+`}}`,
		`"limit": 5000`, `"limit": 5000, `+spec+`}`, `"limit": 100`, `"limit": 100, `+spec+`}`, `'max_pages: 200\n`, `'max_pages: 200\ndelay: 0s\n`)
	n := 0
	isProblem := regexp.MustCompile(`"title":"[^"]+","status":[45]`)
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "localhost:8077") || !strings.HasPrefix(line, "curl") && !strings.HasPrefix(line, "printf") {
			continue
		}
		line = strings.TrimSpace(to.Replace(line))
		var out []byte
		eventually(t, patience, "answer while crawls begin and end", func() (bool, string) {
			out, err = exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", line).CombinedOutput()
			return !bytes.Contains(out, []byte("try again in a moment")), string(out)
		})
		refused := strings.Contains(line, "nwes") || strings.Contains(line, "/drain") // no such crawl, and no such process
		either := strings.Contains(line, "/tail")                                     // records may arrive until the last crawl has ended
		if n++; err != nil || !either && isProblem.Match(out) != refused {
			t.Errorf("%s: %v\n%.2000s", line, err, out)
		}
		if strings.Contains(line, "/crawls -H") { // the examples that follow are about that crawl
			eventually(t, patience, "have pages of the crawl", func() (bool, string) {
				_, c := ask(t, "GET", url+"/api/v1/crawls/news", "")
				return c["end"] == "complete", fmt.Sprint(c)
			})
		}
	}
	if n < 28 {
		t.Errorf("only %d examples", n)
	}
}

// wantServed checks that the server works with the permissions of an operator, and that with those
// of a viewer only read operations work: NATS itself refuses the rest.
func (l *locked) wantServed(seed string) {
	l.t.Helper()
	looks := []string{"/crawls", "/crawls/site", "/crawls/site/spec", "/crawls/site/spec/revisions", "/crawls/site/runs", "/crawls/site/failures",
		"/crawls/site/reasons", "/crawls/site/explain?brief=true&url=" + seed, "/hosts", "/stats", "/dead-letters/count"}
	for user, more := range map[string][]string{
		"viewer": nil, "operator": {"/dead-letters", "/dead-letters/1", "/crawls/site/explain?url=" + seed, "/records?limit=1"},
	} {
		_, url := served(l.t, append(l.as(user), "--state", l.t.TempDir(), "--allow-private")...)
		if status, a := ask(l.t, "POST", url+"/api/v1/map", fmt.Sprintf(`{"url": %q, "crawl": "site"}`, seed)); status != http.StatusOK || !strings.Contains(fmt.Sprint(a["urls"]), "state:done") {
			l.t.Errorf("map as %s: %d %v", user, status, a)
		}
		for _, path := range append(more, looks...) {
			if status, a := ask(l.t, "GET", url+"/api/v1"+path, ""); status != http.StatusOK {
				l.t.Errorf("%s as %s: %d %v", path, user, status, a["detail"])
			}
		}
		eventually(l.t, patience, "tell how everything stands", func() (bool, string) {
			_, a := ask(l.t, "GET", url+"/api/v1/stats", "")
			return a["overview"] != nil, fmt.Sprint(a)
		}, l.all()...)
		if page, err := http.Get(url + "/processes"); err != nil || page.Body.Close() != nil || (page.StatusCode == http.StatusForbidden) != (user == "viewer") {
			l.t.Errorf("the page of processes as %s: %v, %v", user, page, err)
		}
		status, a := ask(l.t, "POST", url+"/api/v1/crawls/site/resume", "")
		refused := status == http.StatusForbidden && strings.Contains(fmt.Sprint(a["detail"]), "does not let user viewer")
		if refused != (user == "viewer") || !refused && status != http.StatusOK {
			l.t.Errorf("resume as %s: %d %v", user, status, a)
		}
	}
}
