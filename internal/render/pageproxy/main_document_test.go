package pageproxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func page(url string) Document {
	return Document{URL: url, Status: 404, Body: []byte("<p>fetched before"), Header: http.Header{
		"Content-Type": {"text/html"}, "Content-Encoding": {"gzip"}, "Content-Length": {"3"}, "Transfer-Encoding": {"chunked"},
		"content-security-policy": {"default-src 'self'"}, "Set-Cookie": {"a=b", "c=d"}, "Alt-Svc": {"h3"}, "Connection": {"close"},
	}}
}

func TestMainDocumentIsNotFetchedAgain(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	for _, url := range []string{"http://example.com/p?q=1|2#part", "https://example.com/p?q=1|2"} {
		f.begin(Visit{Main: page(url)})
		for range 2 {
			r := f.get(url)
			if r.StatusCode != 404 || r.body != "<p>fetched before" {
				t.Errorf("%d %q", r.StatusCode, r.body)
			}
			wantHeader(t, r.Header, http.Header{
				"Content-Type": {"text/html"}, "Content-Security-Policy": {"default-src 'self'"}, "Set-Cookie": {"a=b", "c=d"},
				"Content-Length": {"17"},
			})
		}
		if got := f.End(); got.Main != 2 || got.Requests != 0 || got.Bytes != 0 {
			t.Errorf("%+v", got)
		}
	}
	if asked := f.requestsOfWeb(); len(asked) != 0 || len(f.exchanges) != 0 {
		t.Errorf("the web was asked for %v", asked)
	}
}

// TestMainDocumentIsReplaced replaces a visit's document by another one, and by none, after which
// the web is used.
func TestMainDocumentIsReplaced(t *testing.T) {
	const url = "https://example.com/p"
	f := newFixture(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "of the web") })
	f.Replace(nil) // without a visit
	f.begin(Visit{Main: page(url)})
	for _, c := range []struct {
		document *Document
		want     string
	}{{nil, "of the web"}, {&Document{URL: url, Body: []byte("another")}, "another"}} {
		f.Replace(c.document)
		if r := f.get(url); r.StatusCode != 200 || r.body != c.want {
			t.Errorf("%d %q, want %q", r.StatusCode, r.body, c.want)
		}
	}
	if got := f.End(); got.Main != 1 || got.Requests != 1 {
		t.Errorf("%+v", got)
	}
}

func wantHeader(t *testing.T, got, want http.Header) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("header %v, want %v", got, want)
	}
	for name := range want {
		if g, w := strings.Join(got[name], "|"), strings.Join(want[name], "|"); g != w {
			t.Errorf("%s: %q, want %q", name, g, w)
		}
	}
}

// TestOnlyNavigationsGetTheMainDocument sends requests for the document's URL that want something
// else, and navigations elsewhere.
func TestOnlyNavigationsGetTheMainDocument(t *testing.T) {
	const url = "https://example.com/p"
	f := newFixture(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "of the web") })
	f.begin(Visit{Main: page(url)})
	for name, c := range map[string]struct {
		method, url string
		header      http.Header
		main        bool
	}{
		"navigation":                 {"GET", url, http.Header{"Sec-Fetch-Mode": {"navigate"}, "Accept": {"text/html,*/*"}}, true},
		"navigation, no Sec-Fetch":   {"GET", url, http.Header{"Accept": {"text/html,*/*"}}, true},
		"other spelling":             {"GET", "https://EXAMPLE.com:443/%70", nil, true},
		"fetch()":                    {"GET", url, http.Header{"Sec-Fetch-Mode": {"cors"}, "Accept": {"text/html"}}, false},
		"fetch(), no Sec-Fetch":      {"GET", url, http.Header{"Accept": {"*/*"}}, false},
		"form":                       {"POST", url, nil, false},
		"HEAD":                       {"HEAD", url, nil, false},
		"another path":               {"GET", url + "/", nil, false},
		"another query":              {"GET", url + "?a", nil, false},
		"another scheme":             {"GET", "http://example.com/p", nil, false},
		"another host":               {"GET", "https://www.example.com/p", nil, false},
		"another port":               {"GET", "http://example.com:81/p", nil, false},
		"not the document of before": {"GET", "https://example.com/", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(f.requestsOfWeb())
			r := f.request(c.method, c.url, nil)
			if c.header != nil {
				r.Header = c.header
			}
			f.do(r)
			if main := len(f.requestsOfWeb()) == before; main != c.main {
				t.Errorf("got the document: %v, want %v", main, c.main)
			}
		})
	}
}

func TestMainDocumentOfAnyStatus(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	for status, want := range map[int]int{0: 200, 101: 200, 204: 204, 500: 500, 1000: 200} {
		f.begin(Visit{Main: Document{URL: "https://example.com/", Status: status, Body: []byte("x")}})
		if r := f.get("https://example.com/"); r.StatusCode != want {
			t.Errorf("%d becomes %d", status, r.StatusCode)
		}
	}
}
