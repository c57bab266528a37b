package pageproxy

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestExchangeIsRecorded(t *testing.T) {
	zipped := "\x1f\x8b stands for gzip"
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Alt-Svc", "h3")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, zipped)
	})
	f.begin(Visit{})
	r := f.request("POST", "https://example.com/form?a=b", strings.NewReader("name=value"))
	r.Header.Set("Sec-Fetch-Dest", "empty")
	r.Header.Set("Accept-Encoding", "gzip, br")
	f.do(r)
	if got := f.End(); got.Requests != 1 || got.Bytes != int64(len(zipped)+len("name=value")) {
		t.Errorf("%+v", got)
	}
	x := f.recorded()
	if x.Method != "POST" || x.URL != "https://example.com/form?a=b" || x.Destination != "empty" || string(x.RequestBody) != "name=value" ||
		x.RequestHeader.Get("Accept-Encoding") != "gzip, br" {
		t.Errorf("request %+v", x)
	}
	if x.Status != 201 || x.Proto != "HTTP/2.0" || string(x.Body) != zipped || x.Truncated || x.Err != nil || x.Header.Get("Content-Encoding") != "gzip" ||
		x.Header.Get("Alt-Svc") != "h3" {
		t.Errorf("response %+v", x)
	}
	if x.Started.IsZero() || x.Duration <= 0 || x.Remote != "127.0.0.1" {
		t.Errorf("%s, %s, %q", x.Started, x.Duration, x.Remote)
	}
}

func TestRecordedBodiesAreBounded(t *testing.T) {
	sent := bytes.Repeat([]byte("0123456789"), 20_000)
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(sent)
	})
	f.begin(Visit{MaxRecorded: 1000})
	if r := f.do(f.request("PUT", "http://example.com/", bytes.NewReader(sent))); r.body != string(sent) {
		t.Errorf("the browser gets %d bytes", len(r.body))
	}
	f.End()
	x := f.recorded()
	if !bytes.Equal(x.Body, sent[:1000]) || !x.Truncated || x.Err != nil || !bytes.Equal(x.RequestBody, sent[:maxRequestBody]) {
		t.Errorf("%d and %d bytes, %v, %v", len(x.Body), len(x.RequestBody), x.Truncated, x.Err)
	}
}

// TestResponsesWithoutABodyAreWhole covers responses that never have a body.
func TestResponsesWithoutABodyAreWhole(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		status int
	}{"HEAD": {"HEAD", 200}, "204": {"GET", 204}, "304": {"GET", 304}, "empty": {"GET", 200}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) })
			f.begin(Visit{})
			f.do(f.request(c.method, "https://example.com/", nil))
			f.End()
			if x := f.recorded(); x.Truncated || x.Err != nil || x.Status != c.status {
				t.Errorf("%+v", x)
			}
		})
	}
}

// TestRedirectIsWhole uses a browser that ends the request when it has the head.
func TestRedirectIsWhole(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.Header().Set("Location", "/next")
		w.WriteHeader(http.StatusMovedPermanently)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "moved away")
	})
	for _, scheme := range []string{"http", "https"} {
		f.exchanges = nil
		f.begin(Visit{})
		res, err := f.browser.Do(f.request("GET", scheme+"://example.com/", nil))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got := f.End(); got.Bytes != 10 || got.Failed != 0 {
			t.Errorf("%+v", got)
		}
		if x := f.recorded(); x.Status != 301 || string(x.Body) != "moved away" || x.Truncated || x.Err != nil {
			t.Errorf("%+v", x)
		}
	}
}

func TestRedirectThatBreaksIsBroken(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.Header().Set("Location", "/next")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, "mov")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	f.begin(Visit{})
	if r := f.get("http://example.com/"); r.StatusCode != http.StatusFound || r.body != "mov" || r.err == nil {
		t.Errorf("%s %q %v", r.Status, r.body, r.err)
	}
	if got := f.End(); got.Failed != 1 {
		t.Errorf("%+v", got)
	}
	if x := f.recorded(); string(x.Body) != "mov" || !x.Truncated || x.Err == nil {
		t.Errorf("%+v", x)
	}
}

// TestBrowserGivesUp checks that this does not count as a failure of the site.
func TestBrowserGivesUp(t *testing.T) {
	f := newFixture(t, neverEnds)
	for _, scheme := range []string{"http", "https"} {
		f.exchanges = nil
		f.begin(Visit{})
		res, err := f.browser.Do(f.request("GET", scheme+"://example.com/body", nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, len("a part"))); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got := f.End(); got.Failed != 0 || got.Requests != 1 {
			t.Errorf("%+v", got)
		}
		if x := f.recorded(); string(x.Body) != "a part" || !x.Truncated || x.Err == nil {
			t.Errorf("%+v", x)
		}
	}
}
