package httpclient

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Cookies that scripts have set are kept, if the spec keeps any: only for hosts with the page's
// access profile, and not those that a response has set, since a later one may be kept already.
func TestCookiesOfScriptsAreKept(t *testing.T) {
	c, err := New(defaultConfig(), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	yes, spec := true, crawlspec.Default()
	spec.Cookies = &yes
	spec.Sources = []crawlspec.HostRule{{Hosts: []string{"other.example"}, Access: crawlspec.Access{Headers: map[string]string{"X-A": "b"}}}}
	ask := Request{URL: "https://a.example/page", Policy: c.Compile(&spec), CookieJar: "crawl"}
	q := c.Requisites(&ask)
	q.Answered(http.Header{"Set-Cookie": {"answered=1; Path=/"}})
	q.GiveCookie("https://a.example/page", "answered=1; Path=/")
	q.GiveCookie("https://a.example/page", "answered=2; Path=/")
	q.GiveCookie("https://a.example/page", "crumb=baked; Path=/page")
	q.GiveCookie("https://other.example/", "other=1; Path=/")
	for url, want := range map[string]string{"https://a.example/page": "crumb=baked; answered=2", "https://other.example/": ""} {
		if got := c.CookieFor(&ask, url); got != want {
			t.Errorf("%s is sent %q, want %q", url, got, want)
		}
	}
}

// An archived requisite contains no secrets and no credentials: neither in its URL nor in its head
// or its body, whatever the encoding.
func TestArchivedRequisiteHasNoSecrets(t *testing.T) {
	t.Setenv("SEINE_SECRET_WORD", "s3cret-of-the-site")
	c, err := New(defaultConfig(), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	spec, how := crawlspec.Default(), crawlspec.DefaultRender()
	how.Login = &crawlspec.RenderLogin{URL: "https://a.example/login", Script: "0", Secrets: map[string]string{"word": "{secret:WORD}"}}
	spec.Render = &how
	const text = `{"word": "s3cret-of-the-site"}`
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	for coding, body := range map[string][]byte{"": []byte(text), "gzip": zipped.Bytes(), "br": []byte("broken")} {
		header := http.Header{"Content-Type": {"application/json"}}
		if coding != "" {
			header.Set("Content-Encoding", coding)
		}
		r := c.Compile(&spec).RequisiteReply(&pageproxy.Exchange{
			Method: "GET", URL: "https://a.example/api?w=s3cret-of-the-site", Status: 200, Header: header, Body: body,
			RequestHeader: http.Header{"Authorization": {"Bearer t0ken"}, "Cookie": {"a=b"}, "X-Word": {"s3cret-of-the-site"}},
		})
		want := `{"word": "xxxxxxxxxxxxxxxxxx"}`
		if coding == "br" {
			want = ""
		}
		if string(r.Body.Data) != want || (coding == "br") != (r.Truncated == messages.TruncatedUnspecified) {
			t.Errorf("%q: the body is %q, %s", coding, r.Body.Data, r.Truncated)
		}
		all := r.URL + string(r.Request) + string(r.Head)
		if strings.Contains(all, "s3cret") || strings.Contains(all, "t0ken") || strings.Contains(all, "\r\nContent-Encoding") || header.Get("Content-Encoding") != coding {
			t.Errorf("%q: %s", coding, all)
		}
	}
}
