package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"seine/internal/ops/history"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// seine explain shows the history of URLs in a crawl with a page, a redirect, a duplicate, an
// excluded URL, a broken one and one with an invalid record.
func TestExplainTellsTheHistoryOfAURL(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 3})
	base := strings.TrimSuffix(site.seed, "/")
	page := func(body string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			_, _ = rw.Write([]byte(body))
		}
	}
	web.Handle(0, "/one", page("<html lang=en><title>One</title><p class=price>cheap</p>"))
	web.Handle(0, "/same", page("<html lang=en><title>One</title><p class=price>cheap</p>"))
	web.Handle(0, "/good", page("<html lang=en><title>Good</title><p class=price>12</p>"))
	web.Handle(0, "/deutsch", page("<html lang=de><title>Gut</title>"))
	web.Handle(0, "/first", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/second", http.StatusFound) })
	web.Handle(0, "/second", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/good", http.StatusFound) })
	web.Handle(0, "/loop", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/back", http.StatusFound) })
	web.Handle(0, "/back", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/loop", http.StatusFound) })
	web.Handle(0, "/broken", func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", http.StatusInternalServerError) })

	c := newCluster(t, shape{})
	bus := c.bus()
	spec := quick()
	spec.MaxAttempts, spec.Exclude = 2, []string{"*.zip"}
	spec.Duplicates.Exact = crawlspec.DuplicateDrop
	if err := json.Unmarshal([]byte(`[{"kind": "product", "match": "*/one", "fields": {"price": {"css": ".price", "as": "number", "required": true}}},
		{"kind": "product", "match": "*/good", "fields": {"price": {"css": ".price", "as": "number"}}}]`), &spec.Records); err != nil {
		t.Fatal(err)
	}
	spec.Page.Emit = crawlspec.EmitAlways
	spec.Page.When = &crawlspec.Condition{Not: &crawlspec.Condition{Language: crawlspec.Strings{"fr"}}, Language: crawlspec.Strings{"en"}}
	c.begin(bus, "told", spec, base+"/one", base+"/good", base+"/broken", base+"/deutsch", base+"/a.zip", "ftp://nowhere/")
	// These are added after /one is known, so that /one is the first of the two duplicates.
	e := &explaining{t: t, c: c}
	e.until(base+"/one", func(h *history.History) bool { return h.State == "done" })
	publishSeeds(t, bus, "told", base+"/same", base+"/first", base+"/loop")
	e.until(base+"/same", func(h *history.History) bool { return h.State == "done" })
	e.until(base+"/first", func(h *history.History) bool { return len(h.To) == 2 && h.To[1].State == "done" })
	e.until(base+"/loop", func(h *history.History) bool { return len(h.To) == 2 && h.To[1].Loop })
	e.until(base+"/broken", func(h *history.History) bool { return h.State == "failed" })

	t.Run("page with records", func(t *testing.T) {
		h := e.until(base+"/good", func(h *history.History) bool {
			return len(h.Records) == 2 && h.Records[0].Commit != "" && h.Records[1].Commit != "" && h.Writers[0].Committed >= h.Records[1].Seq
		}, "--out", c.out())
		if len(h.Results) == 0 || h.Results[len(h.Results)-1].Status != 200 || len(h.Pages) != 1 || h.Pages[0].Status != 200 {
			t.Errorf("results %+v, pages %+v", h.Results, h.Pages)
		}
		kinds := map[string]bool{}
		for _, r := range h.Records {
			kinds[r.Kind] = true
			if len(r.Files) != 1 {
				t.Errorf("record %d of kind %s is in the files %q", r.Seq, r.Kind, r.Files)
			} else if _, err := os.Stat(c.out() + "/" + r.Files[0]); err != nil {
				t.Error(err)
			}
		}
		if !kinds["page"] || !kinds["product"] {
			t.Errorf("records of the kinds %v", kinds)
		}
	})
	t.Run("dead letter", func(t *testing.T) {
		h := e.find(base + "/one")
		if len(h.Dead) != 1 || h.Dead[0].Stage != "parser" || !strings.Contains(h.Dead[0].Reason, "price") {
			t.Errorf("dead letters %+v", h.Dead)
		}
	})
	t.Run("duplicate", func(t *testing.T) {
		h := e.find(base + "/same")
		want := messages.Visit{URL: messages.HashURL(base + "/one"), Round: 1}
		if len(h.Pages) != 1 || h.Pages[0].DuplicateOf != want || !h.Pages[0].Exact || len(h.Records) != 0 {
			t.Errorf("pages %+v with records %+v, want one that repeats %s", h.Pages, h.Records, want)
		}
	})
	t.Run("left out", func(t *testing.T) {
		h := e.until(base+"/deutsch", func(h *history.History) bool { return h.State == "done" })
		if h.LeftOut != "language: page.when: the page is in de, not en" || len(h.Pages) != 1 || len(h.Records) != 0 || len(h.Dead) != 0 {
			t.Errorf("left out: %q, pages %+v, records %+v", h.LeftOut, h.Pages, h.Records)
		}
	})
	t.Run("redirects", func(t *testing.T) {
		h := e.find(base + "/first")
		if len(h.To) != 2 || h.To[0].URL != base+"/second" || h.To[1].URL != base+"/good" {
			t.Errorf("leads to %+v", h.To)
		}
		h = e.find(base + "/second")
		if len(h.From) != 1 || h.From[0].URL != base+"/first" {
			t.Errorf("redirected from %+v", h.From)
		}
	})
	t.Run("failure", func(t *testing.T) {
		h := e.find(base + "/broken")
		if h.Failures != 2 || h.Class != messages.ServerError || len(h.Results) < 2 || len(h.Pages) != 0 {
			t.Errorf("%+v", h)
		}
	})
	t.Run("excluded", func(t *testing.T) {
		h := e.find(base + "/a.zip")
		if h.State != "excluded" || h.Now.Reason != "exclude" || h.Now.Rule != "*.zip" {
			t.Errorf("%+v, now %+v", h.Explanation, h.Now)
		}
	})
	t.Run("near misses", func(t *testing.T) {
		h := e.find(base + "/good/?x=1")
		if h.Known || h.Now.Reason != "" {
			t.Errorf("%+v", h)
		}
		h = e.find(base + "/good/")
		if h.Known || len(h.Near) != 1 || h.Near[0].URL != base+"/good" || h.Near[0].State != "done" {
			t.Errorf("near are %+v", h.Near)
		}
		h = e.find(base+"/good", "--crawl", "other")
		if h.Known || !h.Now.Unknown || len(h.Near) != 1 || h.Near[0].Crawl != "told" {
			t.Errorf("%+v, near are %+v", h.Now, h.Near)
		}
		h = e.find("ftp://nowhere/")
		if len(h.Dead) != 1 {
			t.Errorf("a seed that is no URL: %+v", h.Dead)
		}
	})
	t.Run("purged", func(t *testing.T) {
		s, err := bus.JS.Stream(t.Context(), messages.StreamPages)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		h := e.find(base + "/good")
		if len(h.Pages) != 0 || len(h.Records) != 2 || !h.Searches[1].Purged {
			t.Errorf("pages %+v, records %+v, searches %+v", h.Pages, h.Records, h.Searches)
		}
		e.says(base+"/good", "PAGES nothing between", "the stream is empty now")
	})
	t.Run("for a person", func(t *testing.T) {
		for _, url := range []string{"/good", "/first", "/one", "/a.zip", "/none"} {
			for line := range strings.Lines(e.says(base + url)) {
				if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 {
					t.Errorf("over 80 columns: %s", line)
				}
			}
		}
		out := runSeine(t, "explain", "mailto:me@example.org", "--crawl", "told", "--nats", c.url)
		if out.code() != 2 || !strings.Contains(out.stderr.String(), "not a URL") {
			t.Errorf("of what is no URL: %d, %s", out.code(), out.said())
		}
	})
}

// explaining queries the URLs of a cluster.
type explaining struct {
	t *testing.T
	c *cluster
}

func (e *explaining) run(url string, args ...string) *command {
	e.t.Helper()
	return runSeine(e.t, append([]string{"explain", url, "--crawl", "told", "--nats", e.c.url}, args...)...)
}

func (e *explaining) find(url string, args ...string) *history.History {
	e.t.Helper()
	out := e.run(url, append([]string{"--json"}, args...)...)
	h := new(history.History)
	if err := json.Unmarshal([]byte(out.stdout.String()), h); err != nil {
		e.t.Fatalf("explain %s: %v: %s", url, err, out.said())
	}
	return h
}

func (e *explaining) until(url string, done func(*history.History) bool, args ...string) (h *history.History) {
	e.t.Helper()
	eventually(e.t, time.Minute, "explain "+url, func() (bool, string) {
		h = e.find(url, args...)
		text, _ := json.Marshal(h)
		return done(h), string(text)
	})
	return h
}

// says returns the text about a URL, which must contain these words.
func (e *explaining) says(url string, words ...string) string {
	e.t.Helper()
	text := e.run(url).stdout.String()
	flat := strings.Join(strings.Fields(text), " ")
	for _, w := range words {
		if !strings.Contains(flat, w) {
			e.t.Errorf("of %s it does not say %q:\n%s", url, w, text)
		}
	}
	return text
}

func publishSeeds(t *testing.T, bus *stages.Bus, crawl string, seeds ...string) {
	t.Helper()
	m := &nats.Msg{Subject: messages.SubjectSeeds(crawl), Data: []byte(strings.Join(seeds, "\n"))}
	if err := stages.NewPublisher(bus, "test").Publish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}
