package fetcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func TestClassOfEveryAnswer(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.MaxBody = 2 << 20 })
	for path, want := range map[string]messages.Class{
		"ok":                            messages.OK,
		"empty":                         messages.OK,
		"big?mb=1":                      messages.OK,
		"gzip":                          messages.OK,
		"deflate":                       messages.OK,
		"deflate?raw=1":                 messages.OK,
		"oneline?kb=512":                messages.OK,
		"headers?kb=16":                 messages.OK,
		"badlength?over=1":              messages.OK,
		"charset/latin1":                messages.OK,
		"status?code=204":               messages.OK,
		"status?code=304":               messages.ClientError, // there was no condition
		"redirect-loop":                 messages.Redirect,
		"redirect-chain?n=2":            messages.Redirect,
		"redirect-chain?n=3":            messages.Redirect,
		"status?code=300":               messages.ClientError,
		"status?code=301":               messages.ClientError, // without a Location
		"status?code=400":               messages.ClientError,
		"status?code=403":               messages.ClientError,
		"status?code=404":               messages.Gone,
		"status?code=410":               messages.Gone,
		"status?code=429":               messages.Throttled,
		"status?code=503":               messages.ServerError,
		"status?code=408":               messages.ServerError,
		"status?code=425":               messages.ServerError,
		"status?code=500":               messages.ServerError,
		"status?code=599":               messages.ServerError,
		"status?code=600":               messages.ProtocolError,
		"headers?kb=300":                messages.TooLarge,
		"big?mb=3":                      messages.TooLarge,
		"endless":                       messages.TooLarge,
		"bomb?mb=256":                   messages.TooLarge,
		"brokengzip":                    messages.BadEncoding,
		"badlength":                     messages.ProtocolError,
		"reset":                         messages.ProtocolError,
		"type?t=image/png":              messages.UnsupportedType,
		"type?t=text/plain":             messages.OK,
		"status?code=503&retry_after=7": messages.Throttled,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s.wantsAnswer(t, path, want)
		})
	}
}

// wantsAnswer wants a response with a class, and a result with the addresses and the fetcher.
func (s *fetcherFixture) wantsAnswer(t *testing.T, path string, want messages.Class) {
	t.Helper()
	h := s.get(s.url("/special/" + path))
	h.wants(t, want)
	if h.IP != "127.0.0.1" && want != messages.TooLarge && want != messages.Timeout {
		t.Errorf("IP %q", h.IP)
	}
	if h.Fetcher == "" || h.Started.IsZero() || h.CrawlDelay != nil {
		t.Errorf("fetcher %q, started %s, crawl delay %v", h.Fetcher, h.Started, h.CrawlDelay)
	}
}

func TestClassOfAnswersThatTakeTooLong(t *testing.T) {
	t.Parallel()
	const short = crawlspec.Duration(300 * time.Millisecond)
	for path, limited := range map[string]struct {
		by   func(c *Config, s *crawlspec.Spec)
		want messages.Class
	}{
		"stall":               {func(c *Config, _ *crawlspec.Spec) { c.StallTimeout = short }, messages.Stalled},
		"slow?ms=60000":       {func(c *Config, _ *crawlspec.Spec) { c.FirstByteTimeout = short }, messages.Timeout},
		"drip?n=100000&ms=20": {func(_ *Config, s *crawlspec.Spec) { s.Timeout = short }, messages.Timeout},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := newFetcherFixture(t, ignoreRobots, func(c *Config, s *crawlspec.Spec, _ *testweb.Config) { limited.by(c, s) })
			s.wantsAnswer(t, path, limited.want)
		})
	}
}

func TestPageCarriesTheRequestAndTheResponse(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	s.web.Handle(0, "/page", func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "Text/HTML; charset=utf-8")
		h.Set("Set-Cookie", "session=secret")
		h.Set("Connection", "X-Hop")
		h.Set("X-Hop", "hop")
		h.Set("X-Name", "caf\u00e9")
		fmt.Fprintf(w, "%q %q %q %d", r.UserAgent(), r.Header.Get("Accept"), r.Header.Get("Accept-Encoding"), len(r.Header))
	})
	req := request(s.url("/page"))
	h := s.handle1(req, 1)
	h.wants(t, messages.OK)
	want := fmt.Sprintf("%q %q %q 3", crawlspec.DefaultUserAgent,
		"text/html,application/xhtml+xml,text/plain,*/*;q=0.1", "gzip, deflate, br, zstd")
	if string(h.body) != want {
		t.Errorf("server saw %s, want %s", h.body, want)
	}
	p := h.page
	if p.URL != req.URL || p.Visit != req.Visit || p.Attempt != 1 || p.Depth != 2 || p.Referrer != req.Referrer || p.Rev != 1 {
		t.Errorf("page %+v", p)
	}
	if p.Status != 200 || p.ContentType != "Text/HTML; charset=utf-8" || h.ContentType != p.ContentType {
		t.Errorf("status %d, content type %q and %q", p.Status, p.ContentType, h.ContentType)
	}
	for _, name := range []string{"Set-Cookie", "Connection", "X-Hop"} {
		if v, ok := p.Header[name]; ok {
			t.Errorf("header %s: %q was kept", name, v)
		}
	}
	if p.Header["X-Name"] == nil || p.Header["Date"] == nil {
		t.Errorf("header %v", p.Header)
	}
	if h.BytesBody != int64(len(want)) || h.BytesWire != int64(len(want)) || h.Protocol != "HTTP/1.1" {
		t.Errorf("bytes %d and %d, protocol %s", h.BytesBody, h.BytesWire, h.Protocol)
	}
	if id := h.out.First[0].Header.Get(nats.MsgIdHdr); id != messages.VisitID(testCrawl, req.Visit) {
		t.Errorf("page has ID %q", id)
	}
}

func TestHeaderOfAPageIsBounded(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	s.web.Handle(0, "/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Large", strings.Repeat("\xff", 100<<10))
		w.Header().Set("X-Small", "kept")
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(noise(700 << 10))
	})
	h := s.get(s.url("/"))
	h.wants(t, messages.OK)
	if h.page.Header["X-Large"] != nil || h.page.Header["X-Small"] == nil {
		t.Error("the largest field must go, and no other")
	}
	if n := h.out.First[0].Size(); n > 1<<20 {
		t.Errorf("message of %d bytes", n)
	}
}

// noise returns n incompressible bytes.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

func TestBodyTravelsInlineCompressedOrAsObject(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	text := bytes.Repeat([]byte("<p>The river runs on and on.</p>\n"), 1<<15) // 1 MiB
	for name, c := range map[string]struct {
		body     []byte
		encoding string
		object   bool
		chunked  bool
	}{
		"small":               {text[:compressFrom], "", false, false},
		"small chunked":       {text[:compressFrom], "", false, true},
		"compressed":          {text[:compressFrom+1], "zstd", false, false},
		"compressed chunked":  {text, "zstd", false, true},
		"compressed length":   {text, "zstd", false, false},
		"noise inline":        {noise(messages.InlineBody), "", false, false},
		"noise object":        {noise(messages.InlineBody + 1), "", true, false},
		"mixed object":        {append(noise(900<<10), text...), "zstd", true, false},
		"mixed object stream": {append(noise(900<<10), text...), "zstd", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := "/" + strings.ReplaceAll(name, " ", "-")
			s.web.Handle(0, path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				if !c.chunked {
					w.Header().Set("Content-Length", fmt.Sprint(len(c.body)))
				}
				_, _ = w.Write(c.body[:10])
				w.(http.Flusher).Flush()
				_, _ = w.Write(c.body[10:])
			})
			h := s.get(s.url(path))
			h.wants(t, messages.OK)
			if !bytes.Equal(h.body, c.body) {
				t.Errorf("body of %d bytes differs from the %d sent", len(h.body), len(c.body))
			}
			if h.page.BodyEncoding != c.encoding || (h.page.BodyObject != "") != c.object {
				t.Errorf("encoding %q, object %q", h.page.BodyEncoding, h.page.BodyObject)
			}
			if p := messages.Partition(h.URL, 16); c.object && !strings.HasPrefix(h.page.BodyObject, fmt.Sprintf("%d/%s/", p, messages.VisitID(testCrawl, h.Visit))) {
				t.Errorf("object %q", h.page.BodyObject)
			}
		})
	}
}

// A request that is repeated because its result was lost may get another body. The page that was
// stored first keeps its own.
func TestLargeBodyOfARequestMadeAgainReplacesNone(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	answerWanted(t, s.bus, true)
	var asked atomic.Int32
	s.web.Handle(0, "/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		rnd := rand.NewChaCha8([32]byte{byte(asked.Add(1))})
		_, _ = io.CopyN(w, rnd, 1<<20)
	})
	req := request(s.url("/large"))
	first := s.handle1(req, 1)
	again := s.handle1(req, 2)
	if bytes.Equal(first.body, again.body) || first.page.BodyObject == again.page.BodyObject {
		t.Fatalf("both times the same body, in %q and %q", first.page.BodyObject, again.page.BodyObject)
	}
	if !bytes.Equal(s.body(first.page, nil), first.body) {
		t.Error("the first page has lost its body")
	}
}

func TestContentTypeIsSniffedWhereThereIsNone(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	for path, c := range map[string]struct {
		body  string
		class messages.Class
		want  string
	}{
		"/html":  {"<!DOCTYPE html><title>x</title>" + strings.Repeat("x", 2000), messages.OK, "text/html"},
		"/text":  {"just words", messages.OK, "text/plain"},
		"/png":   {"\x89PNG\x0d\x0a\x1a\x0a" + strings.Repeat("x", 200_000), messages.UnsupportedType, ""},
		"/empty": {"", messages.OK, ""},
	} {
		s.web.Handle(0, path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = w.Write([]byte(c.body))
		})
		h := s.get(s.url(path))
		h.wants(t, c.class)
		if h.ContentType != c.want {
			t.Errorf("%s: content type %q, want %q", path, h.ContentType, c.want)
		}
		if h.page != nil && string(h.body) != c.body {
			t.Errorf("%s: another body", path)
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	for i, c := range []struct{ location, want string }{
		{"/x|y?q#f", "/x|y?q"},
		{"HTTP://Other.Example:80/a/../b", "http://other.example/b"},
		{"mailto:someone@example.org", ""},
		{"http://[::1", ""},
		{"", ""},
	} {
		path := fmt.Sprintf("/from/%d", i)
		s.web.Handle(0, path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", c.location)
			w.WriteHeader(http.StatusMovedPermanently)
		})
		req := request(s.url(path))
		req.Redirects = 3
		h := s.handle1(req, 1)
		if c.want == "" {
			h.wants(t, messages.ClientError)
			if !strings.HasPrefix(h.Error, "redirect without a valid target: ") || h.Location != "" || h.Status != 301 {
				t.Errorf("%q: %d %s, location %q", c.location, h.Status, h.Error, h.Location)
			}
			continue
		}
		want := c.want
		if want[0] == '/' {
			want = s.url(want)
		}
		h.wants(t, messages.Redirect)
		u := h.urls
		if h.Location != want || len(u.URLs) != 1 || u.URLs[0].URL != want {
			t.Errorf("%q: location %q, candidates %v, want %q", c.location, h.Location, u.URLs, want)
		}
		if u.Source != messages.SourceRedirect || u.Depth != 2 || u.Redirects != 4 || u.Referrer != req.URL || !u.Ends.IsZero() {
			t.Errorf("candidates %+v", u)
		}
		if subject := messages.SubjectURLs(messages.SourceRedirect, testCrawl, messages.Partition(want, 16)); h.out.First[0].Subject != subject {
			t.Errorf("candidates on %s, want %s", h.out.First[0].Subject, subject)
		}
	}
}

func TestRetryAfterIsInTheResult(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	h := s.get(s.url("/special/status?code=503&retry_after=7"))
	if h.Class != messages.Throttled || time.Duration(h.RetryAfter) != 7*time.Second {
		t.Errorf("class %s, retry after %s", h.Class, time.Duration(h.RetryAfter))
	}
	// A capped value can still be decoded.
	if h := s.get(s.url("/special/status?code=429&retry_after=1" + strings.Repeat("0", 30))); h.RetryAfter != messages.MaxMillis {
		t.Errorf("retry after %s", time.Duration(h.RetryAfter))
	}
}

func TestPrivateAddressIsRefusedByDefault(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, func(_ *Config, s *crawlspec.Spec, _ *testweb.Config) { s.AllowPrivate = false })
	h := s.get(s.url("/"))
	h.wants(t, messages.RefusedAddress)
	if n := len(s.web.Requests()); n != 0 {
		t.Errorf("the server saw %d requests", n)
	}
}

func TestBadMessagesArePoison(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	odd := request("http://EXAMPLE.org/")
	mail := request("mailto:x@example.org")
	for name, data := range map[string][]byte{
		"no JSON": []byte("x"), "no request": []byte("{}"), "not canonical": odd.Encode(), "no http": mail.Encode(),
	} {
		m := &stages.Message{Subject: messages.SubjectFetch(testCrawl, 0), Data: data, Deliveries: 1, Stored: time.Now()}
		_, err := s.handle(t.Context(), m)
		if !stages.IsPoison(err) {
			t.Errorf("%s: %v is not poison", name, err)
		}
		if out := (composer{s.Fetcher}).onDeadLetter(m, err); len(out.Messages()) != 0 {
			t.Errorf("%s: what goes with the dead letter is %v", name, out)
		}
	}
}

func TestDeadLetterTellsTheFrontier(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	req := request("http://example.org/")
	h := s.decode(composer{s.Fetcher}.onDeadLetter(&stages.Message{Data: req.Encode()}, errors.New("tried too often")), req)
	h.wants(t, messages.ProtocolError)
	if !h.Class.Retryable() || !strings.Contains(h.Error, "tried too often") {
		t.Errorf("class %s, error %q", h.Class, h.Error)
	}
}

func TestCutRequestLeavesNoResult(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	ctx, cancel := context.WithCancel(t.Context())
	s.web.Handle(0, "/", func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	m := &stages.Message{Data: request(s.url("/")).Encode(), Deliveries: 1, Stored: time.Now()}
	if out, err := s.handle(ctx, m); err == nil {
		t.Errorf("output %v of a request that was cut", out)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	def := DefaultConfig()
	if err := def.Validate(); err != nil {
		t.Fatal(err)
	}
	if def.Workers != 64 || def.MaxInFlightBody != 128<<20 || time.Duration(def.StallTimeout) != 20*time.Second || len(def.Accept) != 3 {
		t.Errorf("defaults %+v", def)
	}
	for flag, change := range map[string]func(*Config){
		"workers":            func(c *Config) { c.Workers = 0 },
		"prefetch":           func(c *Config) { c.Prefetch = -1 },
		"max-in-flight-body": func(c *Config) { c.MaxInFlightBody = 1 },
		"max-idle-per-host":  func(c *Config) { c.MaxIdlePerHost = 0 },
		"rate":               func(c *Config) { c.Rate = -1 },
		"bandwidth":          func(c *Config) { c.Bandwidth = -1 },
		"dial-timeout":       func(c *Config) { c.DialTimeout = 0 },
		"tls-timeout":        func(c *Config) { c.TLSTimeout = 0 },
		"first-byte-timeout": func(c *Config) { c.FirstByteTimeout = 0 },
		"stall-timeout":      func(c *Config) { c.StallTimeout = 0 },
		"max-header":         func(c *Config) { c.MaxHeader = 1 },
		"max-ratio":          func(c *Config) { c.MaxRatio = 0 },
		"drain":              func(c *Config) { c.Drain = -1 },
		"accept":             func(c *Config) { c.Accept = []string{"html"} },
	} {
		c := DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
