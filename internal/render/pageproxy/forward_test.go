package pageproxy

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestRequestsPassAsTheyAre(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header()["Date"] = nil
		w.Header().Set("Content-Type", "text/x-echo")
		_, _ = io.WriteString(w, r.Method+" "+r.Host+r.RequestURI+" "+string(body))
	})
	f.begin(Visit{})
	for name, c := range map[string]struct{ method, url, body, want string }{
		"plain":                {"GET", "http://Example.com/a?b=c", "", "GET Example.com/a?b=c "},
		"TLS":                  {"GET", "https://example.com/a?b=c", "", "GET example.com/a?b=c "},
		"a port":               {"GET", "http://example.com:8080/", "", "GET example.com:8080/ "},
		"odd query":            {"GET", "https://example.com/?a;b&100%&c", "", "GET example.com/?a;b&100%&c "},
		"escapes":              {"GET", "https://example.com/a%2Fb%7Cc//d", "", "GET example.com/a%2Fb%7Cc//d "},
		"two slashes":          {"GET", "https://example.com//elsewhere.example/a", "", "GET example.com//elsewhere.example/a "},
		"body":                 {"POST", "https://example.com/post", "hello", "POST example.com/post hello"},
		"address":              {"GET", "http://[2606:4700::1111]/", "", "GET [2606:4700::1111]/ "},
		"address with a port":  {"GET", "http://[2606:4700::1111]:81/", "", "GET [2606:4700::1111]:81/ "},
		"address of IPv4, TLS": {"PUT", "https://93.184.216.34/", "x", "PUT 93.184.216.34/ x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.do(f.request(c.method, c.url, strings.NewReader(c.body)))
			if r.StatusCode != 200 || r.body != c.want || r.err != nil {
				t.Errorf("%d %q %v, want %q", r.StatusCode, r.body, r.err, c.want)
			}
			if _, dated := r.Header["Date"]; dated || r.Header.Get("Content-Type") != "text/x-echo" {
				t.Errorf("header %v", r.Header)
			}
		})
	}
	if got := f.End(); got.Requests != 10 || got.Failed != 0 || got.Refusals != 0 {
		t.Errorf("%+v", got)
	}
}

// TestSpellingIsKept uses a path that Go would spell differently.
func TestSpellingIsKept(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RequestURI) })
	f.begin(Visit{})
	_, r := f.connect("GET http://example.com/a|b?c|d HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
	all, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(all), "/a|b?c|d") {
		t.Errorf("%q, %v", all, err)
	}
	f.End()
	if got := f.recorded().URL; got != "http://example.com/a|b?c|d" {
		t.Errorf("recorded as %q", got)
	}
}

// TestHeaderOfRequestsIsKept checks that the web gets the browser's header, and no fields of the
// proxy.
func TestHeaderOfRequestsIsKept(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	f.begin(Visit{})
	for _, url := range []string{"http://example.com/", "https://example.com/"} {
		r := f.request("GET", url, nil)
		r.Header = http.Header{
			"User-Agent": {""}, "Accept-Encoding": {"gzip, br, zstd"}, "Cookie": {"a=b"}, "X-Forwarded-For": {"of the page"},
			"Proxy-Connection": {"keep-alive"},
		}
		f.do(r)
	}
	for _, r := range f.requestsOfWeb() {
		want := http.Header{"Accept-Encoding": {"gzip, br, zstd"}, "Cookie": {"a=b"}, "X-Forwarded-For": {"of the page"}}
		if !reflect.DeepEqual(r.Header, want) {
			t.Errorf("%s: header %v", r.Proto, r.Header)
		}
	}
}

// TestHeaderOfResponsesIsKept checks that the proxy guesses no fields, and removes offers of a way
// around it.
func TestHeaderOfResponsesIsKept(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Date"], h["Content-Type"] = nil, nil
		h.Set("Alt-Svc", `h3=":443"`)
		h.Set("Seine-Refused", "forged")
		h["Set-Cookie"] = []string{"a=b", "c=d"}
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "<html>")
	})
	f.begin(Visit{})
	for _, url := range []string{"http://example.com/", "https://example.com/"} {
		r := f.get(url)
		want := http.Header{"Set-Cookie": {"a=b", "c=d"}, "Content-Length": {"6"}}
		if !reflect.DeepEqual(r.Header, want) || r.StatusCode != http.StatusTeapot {
			t.Errorf("%d %v", r.StatusCode, r.Header)
		}
	}
}

// TestRedirectsAreTheBrowsers checks that redirects are passed on.
func TestRedirectsAreTheBrowsers(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/next", http.StatusFound) })
	f.begin(Visit{})
	if r := f.get("https://example.com/"); r.StatusCode != http.StatusFound || r.Header.Get("Location") != "/next" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}

// TestEventStreamArrivesAsItIsSent uses a site that sends an event only after the browser has
// received the previous one.
func TestEventStreamArrivesAsItIsSent(t *testing.T) {
	arrived := make(chan struct{}, 1)
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "data: 1\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-arrived:
			case <-r.Context().Done():
			}
		}
	})
	for _, url := range []string{"http://example.com/", "https://example.com/"} {
		f.begin(Visit{})
		res, err := f.browser.Do(f.request("GET", url, nil))
		if err != nil {
			t.Fatal(err)
		}
		event := make([]byte, 8)
		for range 3 {
			if _, err := io.ReadFull(res.Body, event); err != nil || string(event) != "data: 1\n" {
				t.Fatalf("%q, %v", event, err)
			}
			arrived <- struct{}{}
		}
		f.End()
		_ = res.Body.Close()
	}
}

func TestUpstreamFailureIs502(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f.begin(Visit{})
	f.wantRefused(f.get("https://example.com/"), http.StatusBadGateway, "the site cannot be reached")
	if got := f.End(); got.Requests != 1 || got.Failed != 1 || got.Refusals != 0 || !strings.HasPrefix(got.Problems[0].Reason, "no response: ") {
		t.Errorf("%+v", got)
	}
	if x := f.recorded(); x.Status != 0 || x.Err == nil || x.Truncated {
		t.Errorf("%+v", x)
	}
}

func TestBrokenResponseIsBrokenForTheBrowser(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	for _, url := range []string{"http://example.com/", "https://example.com/"} {
		f.exchanges = nil
		f.begin(Visit{})
		if r := f.get(url); r.err == nil {
			t.Errorf("%s: the browser takes %q for all", url, r.body)
		}
		if got := f.End(); got.Failed != 1 || got.Bytes != 4 {
			t.Errorf("%s: %+v", url, got)
		}
		if x := f.recorded(); x.Status != 200 || string(x.Body) != "half" || !x.Truncated || x.Err == nil {
			t.Errorf("%s: %+v", url, x)
		}
	}
}

func TestHTTP2IsSpokenToTheBrowser(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	f.begin(Visit{})
	if r := f.get("https://example.com/"); r.Proto != "HTTP/2.0" {
		t.Error(r.Proto)
	}
}
