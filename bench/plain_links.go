package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// plain serves the HTML of another handler with its links in their plainest spelling; the first pages, at most maxHeld, from
// memory after the first time. The test web is there to find mistakes in reading links; here every crawler is to fetch
// the same pages. Wget2 1.99.1 drops the port of "//host:port/…" (and then waits for port 80), and leaves entities in
// URLs as they are.
type plain struct {
	next http.Handler

	mu    sync.RWMutex
	pages map[string][]byte // by request URI
}

func (p *plain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	uri := r.URL.RequestURI()
	p.mu.RLock()
	body, ok := p.pages[uri]
	p.mu.RUnlock()
	if !ok {
		if body, ok = p.render(r); !ok {
			p.next.ServeHTTP(w, r)
			return
		}
		p.mu.Lock()
		if len(p.pages) < maxHeld {
			p.pages[uri] = body
		}
		p.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the server leaves it out for HEAD
}

// render returns false for what is no page.
func (p *plain) render(r *http.Request) ([]byte, bool) {
	get := r.Clone(r.Context())
	get.Method, get.Header = http.MethodGet, http.Header{}
	rec := httptest.NewRecorder()
	p.next.ServeHTTP(rec, get)
	if rec.Code != http.StatusOK || !isHTML(rec.Header()) {
		return nil, false
	}
	return []byte(plainLinks(r.Host).Replace(rec.Body.String())), true
}

// plainLinks knows the spellings that the test web uses. In a URL "&l=" is no entity, so that "&" needs no escape.
func plainLinks(host string) *strings.Replacer {
	full := "http://" + host + "/"
	return strings.NewReplacer(
		full, full,
		"//"+host+"/", "/",
		"&amp;l=en", "&l=en", "&#38;l=en", "&l=en", "&#x26;l=en", "&l=en",
		"&eacute;", "é",
	)
}
