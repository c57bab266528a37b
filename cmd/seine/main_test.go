package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seine runs the command in this process, and returns its exit code and output.
func seine(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	out, wait := capture(t, &os.Stdout)
	err, waitErr := capture(t, &os.Stderr)
	code = run(args)
	wait()
	waitErr()
	return code, out.String(), err.String()
}

// capture redirects a standard file to a buffer until the returned function is called.
func capture(t *testing.T, file **os.File) (*bytes.Buffer, func()) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := *file
	*file = w
	var b bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&b, r) // until w is closed
	}()
	return &b, func() {
		*file = old
		_ = w.Close()
		<-done
		_ = r.Close()
	}
}

// write creates a file for the test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// says checks that a text contains all parts.
func says(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q, but:\n%s", what, p, text)
		}
	}
}

const productPage = `<!doctype html><title>Shirt</title>
<div class=product><h1>Blue shirt</h1><p class=price>12,50 €</p><span class=sku>S-1</span>
<ul><li class=offer><b>A</b> <i>12.50</i></li><li class=offer><b>B</b> <i>13</i></li></ul></div>
<a href="/p/2">next</a> <a href="https://b.example/">b</a> <a href="/about" rel=nofollow>about</a> <button data-more="/p/3">more</button>`

const productSpec = `
delay: 0s
records:
  - kind: product
    match: "*/p/*"
    when: {css: div.product}
    key: "{sku}"
    fields:
      title: h1
      price: {css: .price, as: number}
      sku: .sku
      offers: {css: .offer, all: true, fields: {seller: b, price: {css: i, as: number}}}
      day: {css: time, required: %s}
  - kind: list
    match: "*/list"
    fields: {title: h1}
follow:
  - {css: button, get: "@data-more", priority: 2, depth: 0}
`

func spec(t *testing.T, required string) string {
	t.Helper()
	return write(t, "spec.yaml", strings.Replace(productSpec, "%s", required, 1))
}

// shop serves a product page, and checks its requests.
func shop(t *testing.T) (url string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /secret\n")
		case "/p/1", "/secret":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, productPage)
		case "/old":
			http.Redirect(w, r, "/p/1", http.StatusMovedPermanently)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// An archive format is rejected with the flags that create an archive.
func TestFormatOfAnArchiveNamesTheFlagsForIt(t *testing.T) {
	code, _, stderr := seine(t, "crawl", "http://a.test/", "--format", "warc.zst", "--dry-run")
	if want := "--warc DIR --warc-format warc.zst"; code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s; want 2, and %s", code, stderr, want)
	}
}
