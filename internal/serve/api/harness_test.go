package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/render"
	"seine/internal/run/connect"
	"seine/internal/run/crawl"
	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/audit"
	"seine/internal/serve/cluster"
	"seine/internal/serve/replays"
	"seine/internal/serve/scrape"
	"seine/internal/serve/snapshots"
	"seine/internal/serve/webhooks"
	"seine/internal/testing/await"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// site is a small web site: /, /1 … /9 with a product each, /broken, which answers 404, and other
// pages for tests.
func site(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch path := r.URL.Path; path {
		case "/":
			for i := range 9 {
				_, _ = fmt.Fprintf(w, `<a href="/%d">%[1]d</a>`, i+1)
			}
			_, _ = io.WriteString(w, `<title>Home &lt;script&gt;</title><a href="/broken">x</a><a href="/private/x">y</a>`)
		case "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = fmt.Fprintf(w, "User-agent: *\nDisallow: /forbidden\nSitemap: http://%s/sitemap.xml\n", r.Host)
		case "/sitemap.xml":
			w.Header().Set("Content-Type", "application/xml")
			_, _ = fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://%s/1</loc></url><url><loc>http://%[1]s/hidden</loc></url></urlset>`, r.Host)
		case "/broken":
			http.Error(w, "broken", http.StatusNotFound)
		default:
			_, _ = fmt.Fprintf(w, `<title>Product %s</title><meta name="description" content="About %[1]s"><article><h1>Product %[1]s</h1><p class="price">%d</p><p>%s</p></article><a href="/">home</a>`,
				path, len(path), strings.Repeat("It is made of good wood, and lasts for many years. ", 10))
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// shop returns the spec of a crawl of a site.
func shop(seed string) *crawlspec.Spec {
	s := crawlspec.Default()
	s.Seeds, s.AllowPrivate, s.Delay, s.PerHost, s.Schedule = []crawlspec.Seed{{URL: seed}}, true, 0, 8, "@every 87600h"
	s.Exclude = []string{"*/private/*"}
	s.MaxAttempts = 1
	return &s
}

// runCrawl runs a crawl in a directory until the end of the test or until stop is called.
func runCrawl(t *testing.T, data, name string, spec *crawlspec.Spec) (stop func()) {
	t.Helper()
	o := crawl.DefaultOptions(name, data)
	o.Listen, o.Chain = "127.0.0.1:0", true
	o.Spec = func(crawlspec.Spec) (*crawlspec.Spec, error) { return spec, nil }
	o.Writer.Out, o.Writer.ChunkAge = filepath.Join(data, "out"), crawlspec.Duration(100*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := crawl.Run(ctx, o)
		ended <- err
	}()
	await.Eventually(t, "the crawl runs", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the crawl ended: %v", err)
		default:
		}
		return connect.HasLocal(data) && o.Health.Err() == nil
	})
	done := false
	stop = func() {
		if !done {
			done = true
			cancel()
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// server is the complete server on a data directory.
type server struct {
	t *testing.T
	*httptest.Server
	Audit *audit.Log
	API   *api.API
	Feed  *snapshots.Feed
}

func newServer(t *testing.T, data string, edit ...func(*serve.Options, *api.Options)) *server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	writes, err := audit.Open(filepath.Join(t.TempDir(), "audit"))
	if err != nil {
		t.Fatal(err)
	}
	c := cluster.New(connect.Operator{Data: data}, log)
	so := serve.Options{Listen: "127.0.0.1:0", Rate: 10_000, Audit: writes, Log: log, Pages: http.NotFoundHandler(), MCP: http.NotFoundHandler()}
	ao := api.Options{Cluster: c, Feed: snapshots.New(c, log), Audit: writes, AllowPrivate: true, Keys: filepath.Join(t.TempDir(), "keys"), Log: log}
	if ao.Scraper, err = scrape.New("", render.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ao.Scraper.Close)
	if ao.Webhooks, err = webhooks.New(filepath.Join(t.TempDir(), "webhooks"), c, log); err != nil {
		t.Fatal(err)
	}
	ao.Webhooks.AllowPrivate, ao.Webhooks.Wait = true, func(int) time.Duration { return 10 * time.Millisecond }
	if ao.Replays, err = replays.New(filepath.Join(t.TempDir(), "replays"), filepath.Join(t.TempDir(), "replayed"), c, log); err != nil {
		t.Fatal(err)
	}
	for _, e := range edit {
		e(&so, &ao)
	}
	a := api.New(ao)
	so.API, so.Harmless = a, a.Harmless()
	s := &server{t: t, Server: httptest.NewServer(serve.Handler(&so)), Audit: writes, API: a, Feed: ao.Feed}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var all sync.WaitGroup
		all.Go(func() { ao.Feed.Run(ctx) })
		all.Go(func() { ao.Webhooks.Run(ctx) })
		all.Go(func() { ao.Replays.Run(ctx) })
		all.Wait()
	}()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		stop()
		<-ended
		c.Close()
		_ = writes.Close()
	})
	return s
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	text   []byte
}

func (a *answer) String() string { return fmt.Sprintf("%d %s", a.status, a.text) }

// do sends a request; headers come in pairs.
func (s *server) do(method, path, body string, header ...string) *answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+api.Base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" && (body[0] == '{' || body[0] == '[') {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return &answer{resp.StatusCode, resp.Header, bytes.TrimSpace(text)}
}

// want sends a request, checks the status of the response, and decodes it into v if that is not
// nil.
func (s *server) want(status int, v any, method, path, body string, header ...string) *answer {
	s.t.Helper()
	a := s.do(method, path, body, header...)
	if a.status != status {
		s.t.Fatalf("%s %s: %v, want %d", method, path, a, status)
	}
	if v != nil {
		if err := json.Unmarshal(a.text, v); err != nil {
			s.t.Fatalf("%s %s: %v: %v", method, path, err, a)
		}
	}
	return a
}

// problemOf decodes a problem document.
func (s *server) problemOf(a *answer) (detail string) {
	s.t.Helper()
	var p struct {
		Title, Detail string
		Status        int
	}
	if err := json.Unmarshal(a.text, &p); err != nil || p.Status != a.status || p.Title == "" || a.header.Get("Content-Type") != "application/problem+json" {
		s.t.Errorf("it is no problem document: %v, %s, %v", a, a.header.Get("Content-Type"), err)
	}
	return p.Detail
}

// crawled returns a server on a crawl that has fetched all of its site.
func crawled(t *testing.T) (s *server, seed, data string) {
	t.Helper()
	data, seed = filepath.Join(t.TempDir(), "data"), site(t)
	runCrawl(t, data, "shop", shop(seed+"/"))
	s = newServer(t, data)
	s.awaitPages("shop", 10)
	await.Eventually(t, "the writer says where it writes", func() bool { return s.do("GET", "/files", "").status == http.StatusOK })
	return s, seed, data
}

// awaitPages waits until a crawl has fetched n pages and is idle.
func (s *server) awaitPages(name string, n int64) {
	s.t.Helper()
	await.Eventually(s.t, "the pages are fetched", func() bool {
		var c struct {
			Done, Queued, Pages int64
			InFlight            int64 `json:"in_flight"`
			Parsing             int64
		}
		a := s.do("GET", "/crawls/"+name, "")
		return a.status == http.StatusOK && json.Unmarshal(a.text, &c) == nil && c.Pages >= n && c.Queued+c.InFlight+c.Parsing == 0
	})
}

// spoil adds invalid URLs to a crawl and waits until they are dead letters.
func (s *server) spoil(data, crawl string, n int) {
	s.t.Helper()
	c := cluster.New(connect.Operator{Data: data}, slog.New(slog.DiscardHandler))
	defer c.Close()
	err := c.Do(s.t.Context(), func(ctx context.Context, bus *stages.Bus) error {
		for i := range n {
			m := &nats.Msg{Subject: messages.SubjectSeeds(crawl), Data: fmt.Appendf(nil, "nonsense%d", i)}
			if _, err := bus.JS.PublishMsg(ctx, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	await.Eventually(s.t, "the dead letters are there", func() bool {
		var count struct{ Total int }
		s.want(http.StatusOK, &count, "GET", "/dead-letters/count?crawl="+crawl, "")
		return count.Total >= n
	})
}
