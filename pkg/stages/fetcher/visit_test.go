package fetcher

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	const etag, modified = `W/"33a64df5"`, "Fri, 02 Jan 2026 03:05:05 GMT"
	var robotsHeader atomic.Value
	s.web.Handle(0, "/robots.txt", func(_ http.ResponseWriter, r *http.Request) { robotsHeader.Store(r.Header) })
	s.web.Handle(0, "/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("ETag", etag)
		w.Header().Set("Last-Modified", modified)
		if r.URL.Query().Has("304") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, "%q %q %d", r.Header["If-None-Match"], r.Header["If-Modified-Since"], len(r.Header))
	})
	for _, c := range []struct {
		query, etag, modified string
		class                 messages.Class
		body                  string
	}{
		{"/?304", etag, modified, messages.NotModified, ""},
		{"/?304", etag, "", messages.NotModified, ""},
		{"/?304", "", modified, messages.NotModified, ""},
		{"/?304", "", "", messages.ClientError, ""},
		{"/", "", "", messages.OK, `[] [] 3`},
		{"/", "x", "", messages.OK, `["x"] [] 4`},
		{"/", "", "y", messages.OK, `[] ["y"] 4`},
		{"/", `"é"`, "y", messages.OK, `["\"é\""] ["y"] 5`},
		{"/", "", "", messages.OK, `[] [] 3`}, // nothing is left over
	} {
		req := request(s.url(c.query))
		req.ETag, req.LastModified = c.etag, c.modified
		h := s.handle1(req, 1)
		h.wants(t, c.class)
		if string(h.body) != c.body {
			t.Errorf("the server saw %s, want %s", h.body, c.body)
		}
		wantTag, wantModified := etag, modified
		if c.class == messages.ClientError {
			wantTag, wantModified = "", ""
		}
		if h.ETag != wantTag || h.LastModified != wantModified {
			t.Errorf("%s %s: validators %q and %q", c.query, c.class, h.ETag, h.LastModified)
		}
		if (h.Digest != "") != (c.class == messages.OK) || c.class != messages.OK && h.BytesBody != 0 {
			t.Errorf("%s: digest %q", c.class, h.Digest)
		}
	}
	if h, _ := robotsHeader.Load().(http.Header); len(h) != 3 {
		t.Errorf("robots.txt was asked for with %v", h)
	}
}

// A page is marked as unchanged if the request has the digest of the previous visit.
func TestPageSaysThatItIsUnchanged(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	const body = "<title>as ever</title>"
	s.web.Handle(0, "/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, body)
	})
	sum := sha256.Sum256([]byte(body))
	was := messages.Digest(sum[:])[:16]
	for before, want := range map[string]bool{"": false, was: true, "0123456789abcdef": false} {
		req := request(s.url("/"))
		req.Digest = before
		if h := s.handle1(req, 1); h.page == nil || h.page.Unchanged != want {
			t.Errorf("after %q: %s with the page %+v, want unchanged %t", before, h.Class, h.page, want)
		}
	}
}

// With gone: record, a record reports that a page with records is gone, before the result does. A
// temporary absence makes none.
func TestPageThatIsGoneIsRecorded(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, func(_ *Config, spec *crawlspec.Spec, _ *testweb.Config) { spec.Gone = crawlspec.WhenGoneRecord })
	s.web.Handle(0, "/", func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Query().Get("is"))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	})
	for status, kind := range map[int]string{404: "gone", 410: "gone", 301: "gone", 308: "gone", 304: "visit", 302: "", 307: "", 403: "", 500: ""} {
		for _, recorded := range []bool{true, false} {
			req := request(s.url(fmt.Sprintf("/?is=%d", status)))
			req.Recorded, req.Metadata, req.ETag = recorded, messages.Metadata{"customer": "17"}, `"e"`
			m := &stages.Message{Subject: messages.SubjectFetch(req.Crawl, 0), Data: req.Encode(), Deliveries: 1, Stored: time.Now()}
			out, err := s.handle(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if out.Free != nil {
				out.Free()
			}
			res, err := messages.DecodeResult(out.Last[0].Data)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, m := range out.First {
				if strings.HasPrefix(m.Subject, "seine.records.") {
					got = append(got, m.Subject+" "+m.Header.Get(nats.MsgIdHdr)+" "+string(m.Data))
				}
			}
			if recorded && kind != "" {
				r := messages.VisitRecord{
					Kind: kind, Same: kind == "visit", URL: req.URL, FetchedAt: res.Started, Crawl: req.Crawl, Visit: req.Visit, Status: status, Class: res.Class, Location: res.Location, Run: req.Run,
					Metadata: req.Metadata,
				}
				p := messages.Partition(req.URL, s.bus.Layout.Partitions)
				want = []string{fmt.Sprintf("%s %s.%s.0 %s", messages.SubjectRecords(req.Crawl, p), messages.VisitID(req.Crawl, req.Visit), kind, r.Encode())}
			}
			if !slices.Equal(got, want) || res.GoneRecord != (recorded && kind == "gone") || (res.Location != "") != (res.Class == messages.Redirect) {
				t.Errorf("%d, recorded %t: records %q, want %q; the result says %t", status, recorded, got, want, res.GoneRecord)
			}
		}
	}
}

// All partitions are notified of an unchanged page, if the frontier requested that, before its
// result is sent.
func TestUnchangedPageIsToldToAllPartitions(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	s.web.Handle(0, "/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	for _, round := range []uint64{0, 3} {
		req := request(s.url("/"))
		req.ETag, req.PageRound, req.Run, req.Depth = `"e"`, round, 1_800_000_000, 2
		m := &stages.Message{Subject: messages.SubjectFetch(req.Crawl, 0), Data: req.Encode(), Deliveries: 1, Stored: time.Now()}
		out, err := s.handle(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if out.Free != nil {
			out.Free()
		}
		var want, got []string
		if round > 0 {
			for p := range s.bus.Layout.Partitions {
				want = append(want, messages.SubjectURLs(messages.SourceLink, req.Crawl, p))
			}
		}
		for _, m := range out.First {
			c, err := messages.DecodeCandidates(m.Data)
			if err != nil {
				t.Fatal(err)
			}
			if c.Source != messages.SourceUnchanged || c.Referrer != req.URL || c.PageRound != round || c.Run != req.Run || c.Depth != 2 {
				t.Errorf("candidates %+v", c)
			}
			got = append(got, m.Subject)
		}
		if !slices.Equal(got, want) || len(out.Last) != 1 {
			t.Errorf("round %d: told on %q, want %q; %d results", round, got, want, len(out.Last))
		}
	}
}

func TestRobotsIsNeverConditional(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	var header atomic.Value
	s.web.Handle(0, "/robots.txt", func(_ http.ResponseWriter, r *http.Request) { header.Store(r.Header) })
	req := request(s.url("/"))
	req.ETag, req.LastModified = `"x"`, "y"
	s.handle1(req, 1)
	if h := header.Load().(http.Header); h.Get("If-None-Match")+h.Get("If-Modified-Since") != "" {
		t.Errorf("robots.txt was asked for with %v", h)
	}
}

func TestDigestIsOfTheDecodedBody(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	for _, path := range []string{"empty", "ok", "big?mb=3", "gzip", "deflate", "deflate?raw=1", "drip?n=20&ms=1", "oneline?kb=512"} {
		h := s.get(s.url("/special/" + path))
		h.wants(t, messages.OK)
		sum := sha256.Sum256(h.body)
		if want := hex.EncodeToString(sum[:16]); h.Digest != want {
			t.Errorf("%s: digest %q, want %q", path, h.Digest, want)
		}
	}
	for _, path := range []string{"badlength", "status?code=404", "redirect-chain?n=2", "type?t=image/png", "brokengzip"} {
		if h := s.get(s.url("/special/" + path)); h.Digest != "" {
			t.Errorf("%s: class %s with digest %q", path, h.Class, h.Digest)
		}
	}
}

func TestRunIsHandedOn(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	req := request(s.url("/special/ok"))
	req.Run = 7
	if h := s.handle1(req, 1); h.page.Run != 7 {
		t.Errorf("page of run %d", h.page.Run)
	}
	req = request(s.url("/special/redirect-chain?n=2"))
	req.Run = 7
	if h := s.handle1(req, 1); h.urls.Run != 7 {
		t.Errorf("candidates of run %d", h.urls.Run)
	}
}

func TestRequestsToAHostAreAnIntervalApart(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	const interval, n = 200 * time.Millisecond, 4
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			req := request(s.url(fmt.Sprintf("/special/slow?ms=800&n=%d", i)))
			req.Interval = messages.Millis(interval)
			s.handle1(req, 1)
		})
	}
	wg.Wait()
	starts := s.web.Requests()
	if len(starts) != n {
		t.Fatalf("%d requests", len(starts))
	}
	for i := range starts[1:] {
		if gap := starts[i+1].At.Sub(starts[i].At); gap < interval/2 { // a busy machine is late with some
			t.Errorf("request %d came %s after the one before", i+1, gap)
		}
	}
	// From start to start: the responses overlap.
	if !starts[1].At.Before(starts[0].End) {
		t.Errorf("the second request, at %s, waited for the response to the first, at %s", starts[1].At, starts[0].End)
	}
}

func TestIntervalGivesRobotsATurn(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	req := request(s.url("/"))
	req.Interval = messages.Millis(time.Hour)
	s.handle1(req, 1).wants(t, messages.RobotsFetched) // and does not wait for an hour
}

func TestRequestOfAnOlderFrontierIsAskedAbout(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	seen := make(map[string]bool)
	for _, step := range []struct {
		epoch  uint64
		wanted bool
		done   bool
	}{
		{5, false, true},
		{5, false, true},
		{0, false, true}, // no epoch
		{4, false, false},
		{4, true, true},
		{9, false, true},
		{5, false, false},
		{9, false, true},
	} {
		answer := &fetcherFixture{Fetcher: s.Fetcher, t: t, bus: s.bus}
		path := fmt.Sprintf("/special/ok?%d", len(seen))
		seen[path] = true
		req := request(s.url(path))
		req.Epoch = step.epoch
		before := len(s.web.Requests())
		t.Run(path, func(t *testing.T) {
			answerWanted(t, answer.bus, step.wanted)
			m := &stages.Message{Subject: messages.SubjectFetch(testCrawl, 0), Data: req.Encode(), Deliveries: 1, Stored: time.Now()}
			out, err := s.handle(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if done := len(out.Last) == 1; done != step.done || (len(s.web.Requests()) > before) != step.done {
				t.Errorf("epoch %d, wanted %t: done %t, want %t", step.epoch, step.wanted, done, step.done)
			}
		})
	}
}

func TestEpochsArePerPartition(t *testing.T) {
	t.Parallel()
	e := make(epochFence, 2)
	if e.outdated(0, 7) || e.outdated(1, 3) || !e.outdated(0, 6) || e.outdated(1, 4) || e.outdated(0, 7) {
		t.Errorf("newest %v", e)
	}
	var wg sync.WaitGroup
	for i := range uint64(1000) {
		wg.Go(func() { e.outdated(1, i) })
	}
	wg.Wait()
	if e.outdated(1, 999) || !e.outdated(1, 998) {
		t.Error("the newest of many at once was lost")
	}
}

// sends makes a path of host 0 redirect to a location, or respond with a page.
func (s *fetcherFixture) sends(path, location string, count *atomic.Int32) {
	s.web.Handle(0, path, func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Query().Has("PHPSESSID") || location == "" {
			fmt.Fprint(w, "the page")
			return
		}
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	})
}

func TestRedirectToItselfIsFollowed(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.Normalize.DropParameters = []string{"n"} })
	for i, c := range []struct {
		from      string
		redirects map[string]string // paths and their targets, "" for a page
		asked     int32
		class     messages.Class
		location  string
	}{
		{"/a1", map[string]string{"/a1": "/a1;jsessionid=1A", "/a1;jsessionid=1A": ""}, 2, messages.OK, ""},
		{"/a2", map[string]string{"/a2": "/a2?PHPSESSID=1"}, 2, messages.OK, ""},
		{"/a3?q=1", map[string]string{"/a3": "?q=1&utm_source=x&PHPSESSID=2"}, 2, messages.OK, ""},
		{"/d/a4", map[string]string{"/d/a4": "a4;jsessionid=1", "/d/a4;jsessionid=1": "a4;jsessionid=2",
			"/d/a4;jsessionid=2": "a4;jsessionid=3", "/d/a4;jsessionid=3": ""}, 4, messages.OK, ""},
		{"/a5", map[string]string{"/a5": "/a5;jsessionid=1", "/a5;jsessionid=1": "/a5;jsessionid=2",
			"/a5;jsessionid=2": "/a5;jsessionid=3", "/a5;jsessionid=3": "/a5;jsessionid=4"}, 4, messages.ClientError, ""},
		{"/a6", map[string]string{"/a6": "/a6"}, 1, messages.ClientError, ""},
		{"/a7", map[string]string{"/a7": "#there"}, 1, messages.ClientError, ""},
		{"/a8", map[string]string{"/a8": "/a8;jsessionid=1", "/a8;jsessionid=1": "/a8"}, 2, messages.ClientError, ""},
		{"/a9", map[string]string{"/a9": "/b9"}, 1, messages.Redirect, "/b9"},
		{"/e/a", map[string]string{"/e/a": "a;jsessionid=1", "/e/a;jsessionid=1": "b"}, 2, messages.Redirect, "/e/b"},
		{"/a10", map[string]string{"/a10": "//other.example/a10;jsessionid=1"}, 1, messages.Redirect, "http://other.example/a10;jsessionid=1"},
		// A URL sent under older rules is another URL now.
		{"/a11?n=1", map[string]string{"/a11": "/a11"}, 1, messages.Redirect, "/a11"},
		{"/a12", map[string]string{"/a12": "/a12;jsessionid=1", "/a12;jsessionid=1": "http://[::1"}, 2, messages.ClientError, ""},
	} {
		var asked atomic.Int32
		for path, location := range c.redirects {
			s.sends(path, location, &asked)
		}
		req := request(s.url(c.from))
		h := s.handle1(req, 1)
		h.wants(t, c.class)
		if n := asked.Load(); n != c.asked {
			t.Errorf("%s: %d requests, want %d", c.from, n, c.asked)
		}
		want := c.location
		if strings.HasPrefix(want, "/") {
			want = s.url(want)
		}
		if h.Location != want || h.urls != nil && h.urls.URLs[0].URL != want {
			t.Errorf("%s: location %q, want %q", c.from, h.Location, want)
		}
		if h.page != nil && (h.page.URL != req.URL || h.page.Visit != req.Visit || string(h.body) != "the page" || h.Status != 200) {
			t.Errorf("%s: page %+v", c.from, h.page)
		}
		if c.class == messages.ClientError && i < 8 && h.Error != "redirects to itself" {
			t.Errorf("%s: %s", c.from, h.Error)
		}
	}
}

func TestRedirectToItselfObeys(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /*jsessionid\n")
	})
	var asked, other atomic.Int32
	s.sends("/a", "/a;jsessionid=1", &asked)
	s.sends("/a;jsessionid=1", "", &other)
	h := s.get(s.url("/a"))
	if h.wants(t, messages.RobotsDenied); h.Error != "robots.txt: Disallow: /*jsessionid" || other.Load() != 0 {
		t.Errorf("%s, %d requests", h.Error, other.Load())
	}
	// The host's delay is kept in between, and the validators are those of the page.
	s.web.Handle(0, "/b", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("PHPSESSID") && r.Header.Get("If-None-Match") == `"x"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Location", "?PHPSESSID=1")
		w.WriteHeader(http.StatusFound)
	})
	req := request(s.url("/b"))
	req.Delay, req.ETag = messages.Millis(150*time.Millisecond), `"x"`
	s.handle1(req, 1).wants(t, messages.NotModified)
	all := s.web.Requests()
	if gap := all[len(all)-1].At.Sub(all[len(all)-2].End); gap < 140*time.Millisecond {
		t.Errorf("the hop came %s after the response before", gap)
	}
}
