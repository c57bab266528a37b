package api_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/testing/await"
	"seine/pkg/crawlspec"
)

// list is a page of any list.
type list struct {
	Items []map[string]any
	Next  string
}

func (l *list) strings(key string) (all []string) {
	for _, item := range l.Items {
		all = append(all, fmt.Sprint(item[key]))
	}
	return all
}

// A program inspects a running crawl: its state, its pages, the reasons of failures, and the
// history of a URL.
func TestCrawlIsLookedInto(t *testing.T) {
	t.Parallel()
	s, seed, data := crawled(t)
	var status api.Status
	if s.want(200, &status, "GET", "/status", ""); status.Mode != "running" || status.Caller != "local" {
		t.Errorf("%+v", status)
	}
	var crawls list
	if s.want(200, &crawls, "GET", "/crawls", ""); !slices.Equal(crawls.strings("name"), []string{"shop"}) {
		t.Errorf("%+v", crawls)
	}
	first := s.want(200, nil, "GET", "/crawls/shop?wait=60s", "") // has ended
	s.want(422, nil, "GET", "/crawls/shop?wait=61s", "")
	s.want(422, nil, "GET", "/crawls/shop?wait=soon", "")
	if a := s.do("GET", "/crawls/shop", "", "If-None-Match", `"old", W/`+first.header.Get("ETag")); a.status != http.StatusNotModified || len(a.text) > 0 {
		t.Errorf("nothing has changed, and it says %v", a)
	}
	var failures list
	s.want(200, &failures, "GET", "/crawls/shop/failures", "")
	if got := failures.strings("url"); !slices.Equal(got, []string{seed + "/broken"}) || failures.Next != "" {
		t.Errorf("failures are %v", failures)
	}
	var reasons struct {
		Failures, Exclusions []struct{ Reason string }
	}
	if s.want(200, &reasons, "GET", "/crawls/shop/reasons", ""); len(reasons.Failures) != 1 || len(reasons.Exclusions) != 1 || reasons.Exclusions[0].Reason != "exclude" {
		t.Errorf("%+v", reasons)
	}
	var known struct {
		Known bool
		State string
		Pages []any
	}
	if s.want(200, &known, "GET", "/crawls/shop/explain?url="+seed+"/3", ""); !known.Known || known.State != "done" || len(known.Pages) != 1 {
		t.Errorf("%+v", known)
	}
	var hosts struct{ Items []struct{ Host string } }
	s.want(200, &hosts, "GET", "/hosts?order=busiest", "")
	var host struct{ Requests int }
	if s.want(200, &host, "GET", "/hosts/"+strings.TrimPrefix(seed, "http://"), ""); host.Requests < 11 {
		t.Errorf("%+v", host)
	}
	var runs list
	if s.want(200, &runs, "GET", "/crawls/shop/runs", ""); len(runs.Items) != 1 {
		t.Errorf("%+v", runs)
	}
	var stats struct {
		Mode     string
		Overview struct{ Crawls []struct{ Name string } }
	}
	if s.want(200, &stats, "GET", "/stats", ""); stats.Mode != "running" || len(stats.Overview.Crawls) != 1 {
		t.Errorf("%+v", stats)
	}
	testProcesses(t, s)
	testDeadLetters(t, s, data)
	testRecords(t, s)
}

// testProcesses checks that the crawl is listed as a process that cannot be drained.
func testProcesses(t *testing.T, s *server) {
	t.Helper()
	var p struct {
		Items []struct {
			ID, Stage        string
			Drains, Draining bool
		}
	}
	await.Eventually(t, "the crawl answers", func() bool { s.want(200, &p, "GET", "/processes", ""); return len(p.Items) == 1 })
	if p.Items[0].Stage != "crawl" || p.Items[0].Drains || p.Items[0].Draining {
		t.Fatalf("%+v", p)
	}
	await.Eventually(t, "be refused", func() bool {
		a := s.do("POST", "/processes/"+p.Items[0].ID+"/drain", "")
		return a.status == http.StatusConflict && strings.Contains(s.problemOf(a), "pause the crawl")
	})
	if a := s.want(404, nil, "POST", "/processes/nobody/drain", ""); !strings.Contains(s.problemOf(a), "/processes lists") {
		t.Errorf("%v", a)
	}
	for _, id := range []string{"%2a", "a.b", "%3E", strings.Repeat("x", 65)} { // only subjects of processes get requests
		s.want(422, nil, "POST", "/processes/"+id+"/drain", "")
	}
}

// testDeadLetters lists 25 dead letters in pages and removes some.
func testDeadLetters(t *testing.T, s *server, data string) {
	t.Helper()
	s.spoil(data, "shop", 25)
	var all []string
	for path := "/dead-letters?limit=10"; ; {
		var l list
		s.want(200, &l, "GET", path, "")
		all = append(all, l.strings("seq")...)
		if l.Next == "" {
			break
		}
		path = "/dead-letters?limit=10&cursor=" + l.Next
	}
	if len(all) != 25 || all[0] != "25" || all[24] != "1" {
		t.Errorf("the letters are %v", all)
	}
	var one list
	if s.want(200, &one, "GET", "/dead-letters?reason=nonsense17&stage=frontier&crawl=shop", ""); len(one.Items) != 1 {
		t.Errorf("by its reason: %v", one)
	}
	var letter struct{ Payload, Reason string }
	if s.want(200, &letter, "GET", "/dead-letters/1", ""); !strings.HasPrefix(letter.Payload, "nonsense") {
		t.Errorf("%+v", letter)
	}
	var done struct {
		Done int
		Next string
	}
	if s.want(200, &done, "POST", "/dead-letters/drop", `{"seqs": [1, 2]}`); done.Done != 2 {
		t.Errorf("%+v", done)
	}
	if a := s.want(404, nil, "POST", "/dead-letters/drop", `{"seqs": [3, 2]}`); !strings.Contains(s.problemOf(a), "nothing was done") {
		t.Errorf("%v", a)
	}
	if s.want(200, &done, "POST", "/dead-letters/drop", `{"filter": {"crawl": "shop"}, "most": 20}`); done.Done != 20 || done.Next == "" {
		t.Errorf("%+v", done)
	}
	var count struct{ Total int }
	if s.want(200, &count, "GET", "/dead-letters/count", ""); count.Total != 3 {
		t.Errorf("%d are left", count.Total)
	}
}

// testRecords checks that each record of the output is listed once, in pages and by kind.
func testRecords(t *testing.T, s *server) {
	t.Helper()
	var urls []string
	await.Eventually(t, "all records are committed", func() bool {
		urls = nil
		for path := "/records?limit=3"; ; {
			var l list
			if a := s.do("GET", path, ""); a.status != 200 || json.Unmarshal(a.text, &l) != nil {
				return false
			}
			urls = append(urls, l.strings("url")...)
			if l.Next == "" {
				return len(urls) >= 10
			}
			path = "/records?limit=3&cursor=" + l.Next
		}
	})
	if slices.Sort(urls); len(slices.Compact(urls)) != 10 {
		t.Errorf("the records are of %v", urls)
	}
	testFiles(t, s)
	var none list
	if s.want(200, &none, "GET", "/records?kind=product", ""); len(none.Items) != 0 || none.Next != "" {
		t.Errorf("of another kind: %v", none)
	}
	want := s.problemOf(s.want(404, nil, "GET", "/crawls/shpo", ""))
	for _, path := range []string{"/records?crawl=shpo", "/files?crawl=shpo"} {
		if got := s.problemOf(s.want(404, nil, "GET", path, "")); got != want || !strings.Contains(got, "did you mean shop?") {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	s.want(200, nil, "GET", "/records?crawl=shop&kind=product", "")
	for _, path := range []string{"/records?kind=pag", "/records?crawl=shop&kind=pgae"} {
		if got := s.problemOf(s.want(404, nil, "GET", path, "")); !strings.Contains(got, "did you mean page?") {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// testFiles checks that each output file is listed once, the newest first, and that the records of
// each can be read from its cursor.
func testFiles(t *testing.T, s *server) {
	t.Helper()
	var urls []string
	var seen time.Time
	for next := "/files?limit=1"; next != ""; {
		var l struct {
			Items []struct {
				Path, Cursor, SHA256 string
				Records              int
				Stored               time.Time
			}
			Next string
		}
		s.want(200, &l, "GET", next, "")
		for _, f := range l.Items {
			var of list
			s.want(200, &of, "GET", "/records?file="+url.QueryEscape(f.Path)+"&cursor="+f.Cursor, "")
			if len(of.Items) != f.Records || of.Next != "" {
				t.Errorf("%s has %d records, %q; want %d", f.Path, len(of.Items), of.Next, f.Records)
			}
			content := s.want(200, nil, "GET", "/files/content?cursor="+f.Cursor, "")
			if sum := fmt.Sprintf("%x", sha256.Sum256(content.text)); sum != f.SHA256 || !strings.Contains(content.header.Get("Content-Disposition"), path.Base(f.Path)) {
				t.Errorf("%s is downloaded as %v with the sum %s, want %s", f.Path, content.header, sum, f.SHA256)
			}
			if urls = append(urls, of.strings("url")...); !seen.IsZero() && f.Stored.After(seen) {
				t.Errorf("%s is newer than the file before it", f.Path)
			}
			seen = f.Stored
		}
		if next = ""; l.Next != "" {
			next = "/files?limit=1&cursor=" + l.Next
		}
	}
	for cursor, status := range map[string]int{"": 422, "x": 422, "a/0/0": 422} {
		s.want(status, nil, "GET", "/files/content?cursor="+cursor, "")
	}
	if slices.Sort(urls); len(urls) != 10 || len(slices.Compact(urls)) != 10 {
		t.Errorf("the files have records of %v", urls)
	}
}

// A program controls a crawl and its hosts, adds URLs, changes its spec and reverts it.
func TestCrawlIsSteered(t *testing.T) {
	t.Parallel()
	s, seed, _ := crawled(t)
	for verb, state := range map[string]string{"pause": "paused", "resume": "running"} {
		var done struct {
			State    string
			Revision int
		}
		if s.want(200, &done, "POST", "/crawls/shop/"+verb, ""); done.State != state || done.Revision == 0 {
			t.Errorf("%s: %+v", verb, done)
		}
	}
	var host struct{ Host, State string }
	if s.want(200, &host, "POST", "/crawls/shop/hosts/127.0.0.1/pause", ""); host.Host != "127.0.0.1" || host.State != "paused" {
		t.Errorf("%+v", host)
	}
	s.want(200, nil, "POST", "/crawls/shop/hosts/127.0.0.1/resume", "")
	s.want(200, nil, "POST", "/crawls/shop/resume", "")

	var v struct {
		Accepted, Repeated, Excluded, Fed int
		NoURL                             int `json:"no_url"`
		Verdicts                          []struct {
			Line    int
			Verdict string
		}
	}
	text := seed + "/new\n# a comment\n" + seed + "/new\nnonsense\n" + seed + "/private/1\n"
	if s.want(200, &v, "POST", "/crawls/shop/seeds/check", text, "Content-Type", "text/plain"); v.Accepted != 1 || v.Repeated != 1 || v.Excluded != 1 || v.NoURL != 1 || v.Fed != 0 || len(v.Verdicts) != 3 {
		t.Errorf("%+v", v)
	}
	if s.want(200, &v, "POST", "/crawls/shop/seeds?verdicts=all", text, "Content-Type", "text/plain"); v.Fed != 1 || len(v.Verdicts) != 4 || v.Verdicts[2].Line != 4 {
		t.Errorf("%+v", v)
	}
	s.awaitPages("shop", 11)
	testSpecs(t, s)
}

// testSpecs changes the spec of a crawl and reverts it.
func testSpecs(t *testing.T, s *server) {
	t.Helper()
	was := s.want(200, nil, "GET", "/crawls/shop/spec", "")
	var have struct {
		Revision uint64
		Spec     map[string]any
	}
	if err := json.Unmarshal(was.text, &have); err != nil {
		t.Fatal(err)
	}
	have.Spec["max_pages"] = 1000
	changed, err := json.Marshal(have.Spec)
	if err != nil {
		t.Fatal(err)
	}
	yaml := []string{"Content-Type", "application/yaml", "If-Match", was.header.Get("ETag")}
	var change struct {
		Revision uint64
		Changes  []string
	}
	s.want(200, &change, "POST", "/crawls/shop/spec/diff", string(changed), yaml...)
	if want := []string{"+ max_pages: 1000"}; !slices.Equal(change.Changes, want) || change.Revision != have.Revision {
		t.Errorf("%+v", change)
	}
	if s.want(200, &change, "PUT", "/crawls/shop/spec", string(changed), yaml...); change.Revision <= have.Revision || len(change.Changes) != 1 {
		t.Errorf("%+v", change)
	}
	if a := s.want(412, nil, "PUT", "/crawls/shop/spec", string(changed), yaml...); !strings.Contains(s.problemOf(a), "get the spec again") {
		t.Errorf("over a spec that was not seen: %v", a)
	}
	var revisions list
	if s.want(200, &revisions, "GET", "/crawls/shop/spec/revisions", ""); fmt.Sprint(revisions.Items[0]["revision"]) != fmt.Sprint(float64(change.Revision)) {
		t.Errorf("%v after revision %d", revisions, change.Revision)
	}
	s.want(200, nil, "GET", fmt.Sprint("/crawls/shop/spec/revisions/", have.Revision), "")
	s.want(200, &change, "POST", "/crawls/shop/spec/rollback", fmt.Sprintf(`{"revision": %d}`, have.Revision))
	if want := []string{"- max_pages: 1000"}; !slices.Equal(change.Changes, want) {
		t.Errorf("%+v", change)
	}
	var check struct {
		OK       bool
		Problems []struct {
			Line, Column int
			Key          string
		}
	}
	if s.want(200, &check, "POST", "/specs/check", "scope: any\nmax_pages: many\n"); check.OK || len(check.Problems) != 1 || check.Problems[0].Line != 2 {
		t.Errorf("%+v", check)
	}
	s.want(200, nil, "GET", "/specs/schema", "")
}

// A program starts a second crawl, once however often it sends the request, and deletes it.
func TestCrawlIsBegunAndDeleted(t *testing.T) {
	t.Parallel()
	s, seed, _ := crawled(t)
	body := fmt.Sprintf(`{"name": "more", "spec": "allow_private: true\ndelay: 0s\nmax_depth: 0\n", "seeds": [%q]}`, seed+"/7")
	key := []string{"Idempotency-Key", "1"}
	first := s.want(201, nil, "POST", "/crawls", body, key...)
	if first.header.Get("Location") != "/api/v1/crawls/more" {
		t.Errorf("it is at %s", first.header.Get("Location"))
	}
	if again := s.want(201, nil, "POST", "/crawls", body, key...); string(again.text) != string(first.text) || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same request again: %v, first %v", again, first)
	}
	if a := s.want(422, nil, "POST", "/crawls", body+" ", key...); !strings.Contains(s.problemOf(a), "Idempotency-Key") {
		t.Errorf("another request with the key: %v", a)
	}
	if a := s.want(409, nil, "POST", "/crawls", body); !strings.Contains(s.problemOf(a), "crawl more exists: use another name, change its spec (PUT /api/v1/crawls/{crawl}/spec)") {
		t.Errorf("without the key: %v", a)
	}
	s.awaitPages("more", 1)
	var names list
	if s.want(200, &names, "GET", "/crawls?limit=1", ""); !slices.Equal(names.strings("name"), []string{"more"}) || names.Next == "" {
		t.Errorf("%v", names)
	}
	var rest list
	if s.want(200, &rest, "GET", "/crawls?limit=1&cursor="+names.Next, ""); !slices.Equal(rest.strings("name"), []string{"shop"}) || rest.Next != "" {
		t.Errorf("%v", rest)
	}
	s.want(202, nil, "DELETE", "/crawls/more", "")
	await.Eventually(t, "nothing is left of the crawl", func() bool {
		var d struct{ Done bool }
		s.want(200, &d, "GET", "/crawls/more/deletion", "")
		return d.Done
	})
	s.want(404, nil, "GET", "/crawls/more", "")
}

// The stored state of a stopped crawl can be inspected and changed, and a crawl can start in its
// directory.
func TestStoredCrawlIsLookedInto(t *testing.T) {
	t.Parallel()
	data, seed := filepath.Join(t.TempDir(), "data"), site(t)
	empty := newServer(t, data)
	var status api.Status
	if empty.want(200, &status, "GET", "/status", ""); status.Mode != "empty" {
		t.Errorf("%+v", status)
	}
	stop := runCrawl(t, data, "shop", shop(seed+"/"))
	s := newServer(t, data)
	s.awaitPages("shop", 10)
	stop()
	if s.want(200, &status, "GET", "/status", ""); status.Mode != "stored" {
		t.Errorf("%+v", status)
	}
	var c struct {
		Pages int
		Idle  bool
	}
	await.Eventually(t, "it is told that nobody works on it", func() bool { // an answer is cached for a second
		s.want(200, &c, "GET", "/crawls/shop", "")
		return c.Pages == 10 && c.Idle
	})
	s.want(200, nil, "POST", "/crawls/shop/pause", "")
	if a := s.want(409, nil, "GET", "/records/tail", ""); !strings.Contains(s.problemOf(a), "no crawl is running") {
		t.Errorf("%v", a)
	}
	fed := s.feedOn("shop", seed+"/1")
	runCrawl(t, data, "shop", shop(seed+"/"))
	fed()
	await.Eventually(t, "the server finds the crawl that runs again", func() bool {
		s.want(200, &status, "GET", "/status", "")
		return status.Mode == "running"
	})
	s.want(200, nil, "GET", "/crawls/shop", "")
}

// feedOn adds a URL repeatedly until the returned function is called. It must not be refused while
// a crawl starts.
func (s *server) feedOn(crawl, url string) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var feeding sync.WaitGroup
	feeding.Go(func() {
		for ctx.Err() == nil {
			resp, err := s.Client().Post(s.URL+api.Base+"/crawls/"+crawl+"/seeds", "text/plain", strings.NewReader(url))
			if err != nil {
				s.t.Error(err)
				return
			}
			text, _ := io.ReadAll(resp.Body)
			if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
				s.t.Errorf("%d %s", resp.StatusCode, text)
			}
		}
	})
	return func() { stop(); feeding.Wait() }
}

// Events and records are streamed as they happen.
func TestStreams(t *testing.T) {
	t.Parallel()
	s, seed, _ := crawled(t)
	open := func(path string) *bufio.Scanner {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+api.Base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cancel(); _ = resp.Body.Close() })
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		return lines
	}
	events := open("/events")
	for n := 0; n < 2 && events.Scan(); {
		if text, ok := strings.CutPrefix(events.Text(), "data: "); ok {
			var e struct{ Mode string }
			if err := json.Unmarshal([]byte(text), &e); err != nil || e.Mode != "running" {
				t.Errorf("%s, %v", text, err)
			}
			n++
		}
	}
	tail := open("/records/tail?crawl=shop")
	// Its consumer is created after the head of the response is sent, so add URLs until a record
	// arrives.
	got := make(chan string, 1)
	go func() {
		if tail.Scan() {
			got <- tail.Text()
		}
	}()
	n, record := 0, ""
	await.Eventually(t, "a record comes", func() bool {
		n++
		s.want(200, nil, "POST", "/crawls/shop/seeds", fmt.Sprintf("%s/late%d", seed, n), "Content-Type", "text/plain")
		select {
		case record = <-got:
		default:
		}
		return record != ""
	})
	var r struct{ URL string }
	if err := json.Unmarshal([]byte(record), &r); err != nil || !strings.Contains(r.URL, "/late") {
		t.Errorf("%s, %v", record, err)
	}
}

// No GET operation changes anything: each is called, and the streams and specs stay the same.
func TestGetChangesNothing(t *testing.T) {
	t.Parallel()
	s, _, _ := crawled(t)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Security    []map[string][]string
		}
	}
	s.want(200, &doc, "GET", "/openapi.json", "")
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Paths) < 30 {
		t.Fatalf("OpenAPI %s with %d paths", doc.OpenAPI, len(doc.Paths))
	}
	before := s.want(200, nil, "GET", "/crawls/shop", "").header.Get("ETag")
	spec := s.want(200, nil, "GET", "/crawls/shop/spec", "").header.Get("ETag")
	fill := strings.NewReplacer("{crawl}", "shop", "{host}", "127.0.0.1", "{seq}", "1", "{revision}", "1")
	for path, operations := range doc.Paths {
		for method, op := range operations {
			if len(op.Security) != 1 || len(op.Security[0]["token"]) != 1 {
				t.Errorf("%s %s needs no scope", method, path)
			}
		}
		if _, ok := operations["get"]; ok && !strings.HasSuffix(path, "/events") && !strings.HasSuffix(path, "/tail") {
			s.do("GET", strings.TrimPrefix(fill.Replace(path), api.Base), "")
		}
	}
	if after := s.want(200, nil, "GET", "/crawls/shop", "").header.Get("ETag"); after != before {
		t.Errorf("the crawl has changed: %s, %s", before, after)
	}
	if after := s.want(200, nil, "GET", "/crawls/shop/spec", "").header.Get("ETag"); after != spec {
		t.Errorf("the spec has changed: %s, %s", spec, after)
	}
	if all, err := s.Audit.Newest(0, 10); err != nil || len(all) > 0 {
		t.Errorf("looks are among the writes: %+v, %v", all, err)
	}
}

// A read-only server refuses every operation that changes something and allows the read operations.
func TestReadOnlyServerRefusesEveryWrite(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(o *serve.Options, a *api.Options) { o.ReadOnly, a.ReadOnly = true, true })
	fill := strings.NewReplacer("{crawl}", "shop", "{host}", "127.0.0.1", "{seq}", "1", "{revision}", "1", api.Base, "")
	var doc struct{ Paths map[string]map[string]any }
	s.want(200, &doc, "GET", "/openapi.json", "")
	refused := 0
	for path, operations := range doc.Paths {
		for method := range operations {
			if method = strings.ToUpper(method); method == http.MethodGet || slices.Contains(s.API.Harmless(), method+" "+path) {
				continue
			}
			refused++
			if a := s.do(method, fill.Replace(path), "{}"); a.status != http.StatusForbidden || !strings.Contains(s.problemOf(a), "--read-only") {
				t.Errorf("%s %s: %v", method, path, a)
			}
		}
	}
	if refused < 12 {
		t.Errorf("only %d operations change something", refused)
	}
	for _, w := range s.API.Harmless() {
		method, path, _ := strings.Cut(w, " ")
		if a := s.do(method, fill.Replace(path), "{}"); a.status == http.StatusForbidden {
			t.Errorf("%s: %v", w, a)
		}
	}
}

// A program waits for the end of a crawl with one request.
func TestCrawlIsWaitedFor(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	spec := shop(site(t))
	spec.Schedule, spec.State = "", crawlspec.Paused
	runCrawl(t, data, "shop", spec)
	s := newServer(t, data)
	var c struct{ State string }
	if s.want(200, &c, "GET", "/crawls/shop?wait=60s", ""); c.State != "paused" { // it is paused
		t.Errorf("%+v", c)
	}
	s.want(200, nil, "POST", "/crawls/shop/resume", "")
	await.Eventually(t, "the crawl runs or has run", func() bool {
		s.want(200, &c, "GET", "/crawls/shop?wait=1ms", "")
		return c.State != "paused"
	})
	if s.want(200, &c, "GET", "/crawls/shop?wait=60s", ""); c.State != "complete" {
		t.Errorf("%+v", c)
	}
}
