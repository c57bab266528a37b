package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/caller"
	"seine/internal/serve/tokens"
)

// badRequest is a request that must fail, with the advice in its problem.
type badRequest struct {
	method, path, body string
	status             int
	advice             string
	header             []string
}

// The answer to any bad request is a problem document with advice.
func TestBadRequestsAreToldWhatToDo(t *testing.T) {
	t.Parallel()
	s, seed, _ := crawled(t)
	long := strings.Repeat("x", 300)
	yaml, plain := []string{"Content-Type", "application/yaml"}, []string{"Content-Type", "text/plain"}
	cases := []badRequest{
		// Paths and methods.
		{"GET", "/nothing", "", 404, "openapi.json", nil},
		{"GET", "", "", 404, "openapi.json", nil},
		{"POST", "/hosts", "{}", 405, "use GET", nil},
		{"DELETE", "/crawls", "", 405, "use GET or POST", nil},
		{"PATCH", "/crawls/shop", "{}", 405, "use GET or DELETE", nil},
		{"QUERY", "/crawls", "", 405, "use GET", nil},
		// Names of crawls.
		{"GET", "/crawls/nobody", "", 404, "GET /api/v1/crawls lists", nil},
		{"GET", "/crawls/shpo", "", 404, "did you mean shop?", nil},
		{"GET", "/crawls/Upper", "", 422, "a-z", nil},
		{"GET", "/crawls/..%2f..%2fetc", "", 422, "a-z", nil},
		{"GET", "/crawls/%3Cscript%3E", "", 422, "a-z", nil},
		{"GET", "/crawls/" + long, "", 422, "64", nil},
		{"POST", "/crawls/nobody/pause", "", 404, "POST /api/v1/crawls creates one", nil},
		{"DELETE", "/crawls/nobody", "", 404, "lists the crawls", nil},
		{"GET", "/crawls/shop/deletion", "", 404, "DELETE /api/v1/crawls/shop", nil},
		{"GET", "/crawls/nobody/runs", "", 404, "lists", nil},
		{"GET", "/crawls/nobody/reasons", "", 404, "lists", nil},
		// Lists.
		{"GET", "/crawls?limit=0", "", 422, "limit", nil},
		{"GET", "/crawls?limit=1000000", "", 422, "200", nil},
		{"GET", "/crawls?limit=many", "", 422, "integer", nil},
		{"GET", "/crawls?colour=red", "", 422, "colour", nil},
		{"GET", "/crawls?cursor=" + strings.Repeat("x", 5000), "", 422, "cursor", nil},
		{"GET", "/hosts?order=prettiest", "", 422, "slowest", nil},
		{"GET", "/hosts?crawl=nobody", "", 404, "no crawl nobody", nil},
		{"GET", "/hosts/nowhere.test", "", 404, "GET /api/v1/hosts", nil},
		{"GET", "/hosts/bad%20host", "", 422, "host", nil},
		{"GET", "/crawls/shop/failures?class=sad", "", 422, "unknown class", nil},
		{"GET", "/crawls/shop/failures?cursor=x", "", 422, "use next of the previous page", nil},
		{"GET", "/crawls/shop/failures?cursor=0:zz", "", 422, "use next of the previous page", nil},
		{"GET", "/audit?cursor=-1", "", 422, "use next of the previous page", nil},
		{"GET", "/records?cursor=../../etc/passwd", "", 422, "use next of the previous page", nil},
		{"GET", "/files?cursor=0/0-99999", "", 422, "use next of the previous page", nil},
		{"GET", "/records?writer=nobody", "", 404, "start one", nil},
		{"GET", "/records?crawl=A", "", 422, "a-z", nil},
		{"GET", "/records/tail?crawl=nobody", "", 404, "lists", nil},
		// URLs.
		{"GET", "/crawls/shop/explain", "", 422, "url", nil},
		{"GET", "/crawls/shop/explain?url=nonsense", "", 422, "http", nil},
		{"GET", "/crawls/shop/explain?url=javascript:alert(1)", "", 422, "URL", nil},
		{"GET", "/crawls/shop/explain?url=http://a.test/&within=forever", "", 422, "such as 1m", nil},
		{"GET", "/crawls/shop/explain?url=http://a.test/" + strings.Repeat("x", 9000), "", 422, "url", nil},
		// Steering.
		{"POST", "/crawls/shop/hosts/nowhere.test/pause", "", 404, "no crawl has URLs of it", nil},
		{"POST", "/crawls/shop/hosts/bad%20host/pause", "", 422, "host", nil},
		{"POST", "/crawls/shop/hosts/127.0.0.1/pause?new=perhaps", "", 422, "boolean", nil},
		// Dead letters.
		{"GET", "/dead-letters?stage=cook", "", 422, "frontier", nil},
		{"GET", "/dead-letters?since=yesterday", "", 422, "such as 2h", nil},
		{"GET", "/dead-letters?cursor=x", "", 422, "use next", nil},
		{"GET", "/dead-letters/0", "", 422, "seq", nil},
		{"GET", "/dead-letters/99999", "", 404, "GET /api/v1/dead-letters", nil},
		{"POST", "/dead-letters/redrive", `{}`, 422, "either seqs or a filter", nil},
		{"POST", "/dead-letters/drop", `{"seqs": [1], "filter": {}}`, 422, "either seqs or a filter", nil},
		{"POST", "/dead-letters/drop", `{"seqs": [99999]}`, 404, "nothing was done", nil},
		{"POST", "/dead-letters/drop", `{"seqs": ["one"]}`, 422, "integer", nil},
		{"POST", "/dead-letters/drop", `{"filter": {"since": "never"}}`, 422, "such as 2h", nil},
		{"POST", "/dead-letters/drop", `{"seqs": [` + strings.TrimSuffix(strings.Repeat("1,", 1001), ",") + `]}`, 422, "1000", nil},
		// Crawls to start.
		{"POST", "/crawls", "", 400, "body", nil},
		{"POST", "/crawls", `{"name": "new"`, 400, "JSON", nil},
		{"POST", "/crawls", `[]`, 422, "object", nil},
		{"POST", "/crawls", `{}`, 422, "name", nil},
		{"POST", "/crawls", `{"name": "A B"}`, 422, "a-z", nil},
		{"POST", "/crawls", `{"name": 7}`, 422, "string", nil},
		{"POST", "/crawls", `{"name": "new"}`, 422, "give seeds", nil},
		{"POST", "/crawls", `{"name": "new", "colour": "red"}`, 422, "colour", nil},
		{"POST", "/crawls", `{"name": "new", "seeds": ["nonsense"]}`, 422, "Fix or omit these seeds", nil},
		{"POST", "/crawls", `{"name": "new", "seeds": "http://a.test/"}`, 422, "array", nil},
		{"POST", "/crawls", `{"name": "new", "spec": {"scope": "moon"}, "seeds": ["http://a.test/"]}`, 422, "must be", nil},
		{"POST", "/crawls", `{"name": "new", "spec": "scope: [", "seeds": ["http://a.test/"]}`, 422, "the spec is invalid: fix", nil},
		{"POST", "/crawls", `{"name": "new", "spec": {"seeds": [{"file": "/etc/passwd"}]}}`, 422, "the server reads no files", nil},
		{"POST", "/crawls", `{"name": "shop", "seeds": ["` + seed + `/"]}`, 409, "crawl shop exists", nil},
		{"POST", "/crawls", `{"name": "new"}`, 400, "shorter", []string{"Idempotency-Key", long}},
		{"POST", "/crawls", `{"name": "new", "seeds": ["` + strings.Repeat("x", 5<<20) + `"]}`, 413, "send less", nil},
		{"POST", "/crawls", "name: new", 415, "Content-Type", []string{"Content-Type", "application/xml"}},
		// Replays.
		{"POST", "/crawls/nobody/replays", `{"of": "pages"}`, 404, "lists", nil},
		{"POST", "/crawls/shop/replays", `{}`, 422, "of", nil},
		{"POST", "/crawls/shop/replays", `{"of": "links"}`, 422, "pages", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "folder": "../../etc"}`, 422, "folder", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "folder": "/etc"}`, 422, "folder", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "out": "s3://bucket"}`, 422, "out", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "path": "../{crawl}"}`, 422, "each folder and the name must begin with", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "format": "pdf"}`, 422, "format", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "encrypt": ["@/etc/passwd"]}`, 422, "the server reads no files", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "encrypt": ["age1nobody"]}`, 422, "age1nobody", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "host": "bad host"}`, 422, "the name of a host", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "since": "yesterday"}`, 422, "since \"yesterday\": must be how long ago", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "since": "1h", "until": "2h"}`, 422, "until 2h is not after since 1h", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "since": "1h", "from_seq": 7}`, 422, "since and from_seq", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "spec": "scope: moon"}`, 422, "the spec is invalid: fix", nil},
		{"POST", "/crawls/shop/replays", `{"of": "records", "spec": "scope: any"}`, 422, "stored records are written as they are", nil},
		{"POST", "/crawls/shop/replays", `{"of": "records", "to": "records"}`, 422, "RECORDS already", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "to": "records", "folder": "again"}`, 422, "are for files", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "generation": "g2"}`, 422, "generation is for to: records", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "to": "records", "generation": "G 2"}`, 422, "a-z", nil},
		{"POST", "/crawls/shop/replays", `{"of": "pages", "to": "records", "beyond_spec": true}`, 422, "beyond_spec is for", nil},
		{"POST", "/crawls/shop/replays/check", `{"of": "pages", "host": "bad host"}`, 422, "the name of a host", nil},
		{"GET", "/crawls/shop/replays/none", "", 404, "GET /api/v1/crawls/{crawl}/replays lists", nil},
		{"POST", "/crawls/shop/replays/none/resume", "", 404, "lists", nil},
		{"DELETE", "/crawls/shop/replays/..%2f..%2fetc", "", 404, "lists", nil},
		// Seeds.
		{"POST", "/crawls/nobody/seeds", "http://a.test/", 404, "lists", plain},
		{"POST", "/crawls/shop/seeds?priority=99", "http://a.test/", 422, "priority", plain},
		{"POST", "/crawls/shop/seeds?verdicts=some", "http://a.test/", 422, "problems", plain},
		{"POST", "/crawls/shop/seeds", strings.Repeat("\n", 100_001) + "x", 422, "send them in parts", plain},
		{"POST", "/crawls/shop/seeds/check", strings.Repeat("x", 2<<20), 422, "a URL a line", plain},
		{"POST", "/crawls/shop/seeds", strings.Repeat("x", 17<<20), 413, "send less", plain},
		// Specs.
		{"PUT", "/crawls/shop/spec", "scope: any\nmax_pages: -1\n", 422, "spec:2:", yaml},
		{"PUT", "/crawls/shop/spec", "colour: red\n", 422, "colour", yaml},
		{"PUT", "/crawls/shop/spec", "scope: any\n", 422, "allow_private: true", yaml},
		{"PUT", "/crawls/nobody/spec", "scope: any\n", 404, "lists", yaml},
		{"PUT", "/crawls/shop/spec", "delay: 0s\n", 412, "get the spec again", append(slices.Clone(yaml), "If-Match", `"999999"`)},
		{"PUT", "/crawls/shop/spec", "delay: 0s\n", 422, "If-Match", append(slices.Clone(yaml), "If-Match", `"old"`)},
		{"PUT", "/crawls/shop/spec", strings.Repeat("#", 3<<20), 413, "send less", yaml},
		{"GET", "/crawls/shop/spec/revisions/999999", "", 404, "lists all", nil},
		{"GET", "/crawls/shop/spec/revisions/first", "", 422, "integer", nil},
		{"POST", "/crawls/shop/spec/rollback", `{"revision": 999999}`, 404, "lists all", nil},
		{"POST", "/crawls/shop/spec/rollback", `{"revision": 0}`, 422, "revision", nil},
	}
	for _, c := range cases {
		a := s.do(c.method, c.path, c.body, c.header...)
		detail := s.problemOf(a)
		if what := fmt.Sprintf("%s %.80s %.80s", c.method, c.path, c.body); a.status != c.status || !strings.Contains(detail, c.advice) {
			t.Errorf("%s: %d %.300s, want %d and %q", what, a.status, detail, c.status, c.advice)
		} else if len(detail) > 4000 {
			t.Errorf("%s: a problem of %d bytes", what, len(detail))
		}
	}
	if len(cases) < 60 {
		t.Errorf("only %d cases", len(cases))
	}
}

// The problem of an unreadable body is the only one reported: missing fields are not.
func TestUnreadableBodyIsAllThatIsTold(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"))
	for body, header := range map[string]string{`{"name": `: "application/json", "\xff": "application/json", "name=new": "application/x-www-form-urlencoded"} {
		detail := s.problemOf(s.do("POST", "/crawls", body, "Content-Type", header))
		if strings.Contains(detail, "crawl name") || strings.Contains(detail, "validation failed") || !strings.Contains(detail, "/openapi.json") {
			t.Errorf("%q: %s", body, detail)
		}
	}
}

// A client that sends a body slowly and stops gets an error and does not block others.
func TestSlowClientHoldsUpNobody(t *testing.T) {
	t.Parallel()
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(_ *serve.Options, a *api.Options) { a.BodyTime = 300 * time.Millisecond })
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /api/v1/specs/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nContent-Type: application/yaml\r\n\r\nscope"); err != nil {
		t.Fatal(err)
	}
	s.want(200, nil, "GET", "/status", "")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if detail := s.problemOf(&answer{resp.StatusCode, resp.Header, text}); resp.StatusCode != http.StatusRequestTimeout || !strings.Contains(detail, "send it at once") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

// Each operation needs its scope, and no other scope suffices.
func TestEachOperationNeedsItsScope(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens.json")
	secrets := make(map[caller.Scope]string)
	for _, scope := range caller.All() {
		var others []caller.Scope
		for _, o := range caller.All() {
			if o != scope {
				others = append(others, o)
			}
		}
		secret, err := tokens.Create(file, "all-but-"+string(scope), others, 0)
		if err != nil {
			t.Fatal(err)
		}
		secrets[scope] = secret
	}
	s := newServer(t, filepath.Join(t.TempDir(), "data"), func(o *serve.Options, _ *api.Options) {
		var err error
		if o.Tokens, err = tokens.Open(file); err != nil {
			t.Fatal(err)
		}
	})
	var doc struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string
		}
	}
	s.want(200, &doc, "GET", "/openapi.json", "", "Authorization", "Bearer "+secrets[caller.Secrets])
	fill := strings.NewReplacer("{crawl}", "shop", "{host}", "127.0.0.1", "{seq}", "1", "{revision}", "1", "{id}", "x", api.Base, "")
	n := 0
	for path, operations := range doc.Paths {
		for method, op := range operations {
			scope := caller.Scope(op.Security[0]["token"][0])
			a := s.do(strings.ToUpper(method), fill.Replace(path), "", "Authorization", "Bearer "+secrets[scope])
			if n++; a.status != http.StatusForbidden || !strings.Contains(s.problemOf(a), "--scope "+string(scope)) {
				t.Errorf("%s %s without %s: %v", method, path, scope, a)
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d operations", n)
	}
}

// API requests do not reach private addresses and cannot send secrets, unless the owner of the
// server and the token allow it.
func TestSpecsOfTheAPIHaveNoMoreRightsThanTheirCaller(t *testing.T) {
	t.Parallel()
	data, seed := filepath.Join(t.TempDir(), "data"), site(t)
	runCrawl(t, data, "shop", shop(seed+"/"))
	file := filepath.Join(t.TempDir(), "tokens.json")
	weak, err := tokens.Create(file, "weak", []caller.Scope{caller.Read, caller.Write, caller.Scrape}, 0)
	if err != nil {
		t.Fatal(err)
	}
	strong, err := tokens.Create(file, "strong", []caller.Scope{caller.Read, caller.Write, caller.Secrets}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, data, func(o *serve.Options, a *api.Options) {
		if o.Tokens, err = tokens.Open(file); err != nil {
			t.Fatal(err)
		}
		a.AllowPrivate = false
	})
	begin := func(spec string) string {
		return fmt.Sprintf(`{"name": "new", "spec": %q, "seeds": ["http://a.test/"]}`, spec)
	}
	as := func(secret string) []string { return []string{"Authorization", "Bearer " + secret} }
	for _, c := range []struct{ spec, advice string }{
		{"allow_private: true", "--allow-private"},
		{"allow_addresses: [10.0.0.0/8]", "--allow-private"},
		{"alerts: {webhook: 'https://a.test/', allow_private: true}", "--allow-private"},
		{"sources: [{hosts: [a.test], headers: {X-Key: '{secret:KEY}'}}]", "scope secrets"},
		{"alerts: {webhook: 'https://a.test/{secret:KEY}'}", "scope secrets"},
		{"proxies: ['http://u:{secret:KEY}@proxy.test:3128']", "scope secrets"},
	} {
		if a := s.want(403, nil, "POST", "/crawls", begin(c.spec), as(weak)...); !strings.Contains(s.problemOf(a), c.advice) {
			t.Errorf("%s: %v", c.spec, a)
		}
		if a := s.want(403, nil, "PUT", "/crawls/shop/spec", c.spec, append(as(weak), "Content-Type", "application/yaml")...); !strings.Contains(s.problemOf(a), c.advice) {
			t.Errorf("%s: %v", c.spec, a)
		}
	}
	if a := s.want(403, nil, "POST", "/crawls/shop/seeds", seed+"/secret", append(as(weak), "Content-Type", "text/plain")...); !strings.Contains(s.problemOf(a), "may reach private addresses") {
		t.Errorf("a crawl that may is fed: %v", a)
	}
	s.want(201, nil, "POST", "/crawls", begin("sources: [{hosts: [a.test], headers: {X-Key: '{secret:KEY}'}}]"), as(strong)...)
	all, err := s.Audit.Newest(0, 100)
	if err != nil || len(all) != 14 || all[0].Who != "strong" || all[0].Status != 201 || all[1].Who != "weak" || all[1].Reason == "" {
		t.Errorf("%d writes, the last are %+v, %v", len(all), all[:min(2, len(all))], err)
	}
}
