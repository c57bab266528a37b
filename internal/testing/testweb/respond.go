package testweb

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sitePages serves the pages of a site, its robots.txt and its sitemap.
type sitePages struct{ *Web }

// page serves a page of the tree, after the failures of a flaky page.
func (sp sitePages) page(rw http.ResponseWriter, r *http.Request, host int, uri string) {
	n, ok := sp.site.find(host, uri)
	if !ok {
		notFound(rw)
		return
	}
	if sp.site.isFlaky(host, n) && sp.fails(host, n) {
		status := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable}[n%3]
		http.Error(rw, http.StatusText(status), status)
		return
	}
	p := newPage(sp.site, host, n, sp.base(r, host))
	defer p.release()
	sp.content(rw, r, host, n, p.writeTree)
}

// private serves a page below /private/, allowed or not.
func (sp sitePages) private(rw http.ResponseWriter, r *http.Request, host int, uri string) {
	n, ok := numberIn(uri)
	if !ok || n >= sp.site.cfg.PagesPerHost || !sp.site.hasPrivate(host, n) ||
		string(sp.site.appendPrivate(nil, host, n)) != uri {
		notFound(rw)
		return
	}
	p := newPage(sp.site, host, n, sp.base(r, host))
	defer p.release()
	sp.content(rw, r, host, n, p.writePrivate)
}

// missing serves dead links.
func (sp sitePages) missing(rw http.ResponseWriter, host int, uri string) {
	if n, ok := numberIn(uri); ok && sp.site.hash(host, n, saltMissing)%4 == 0 {
		http.Error(rw, "gone", http.StatusGone)
		return
	}
	notFound(rw)
}

func (s *site) appendMissing(b []byte, host, page int) []byte {
	word := s.text.words[s.hash(host, page, saltMissing)>>8%wordCount]
	return append(appendSlug(append(b, "/missing/"...), word, page), ".html"...)
}

// fails counts the answers for a flaky page and reports whether this one fails.
func (sp sitePages) fails(host, page int) bool {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	key := [2]int{host, page}
	sp.tries[key]++
	return sp.tries[key] <= sp.site.cfg.ErrorTries
}

// base returns the authority in the page's own URLs: the requested one if it is safe in HTML.
func (sp sitePages) base(r *http.Request, host int) string {
	for _, c := range []byte(r.Host) {
		if !isAuthorityByte(c) {
			return sp.Name(host)
		}
	}
	return r.Host
}

func isAuthorityByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(".-:[]", c) >= 0
}

// Header values are shared; net/http only reads them.
var (
	typeHTML = []string{"text/html; charset=utf-8"}
	typeXML  = []string{"application/xml; charset=utf-8"}
	typeText = []string{"text/plain; charset=utf-8"}
)

// content serves HTML, or 304 if the client has it already.
func (sp sitePages) content(rw http.ResponseWriter, r *http.Request, host, page int, write func() []byte) {
	modified := sp.site.modified(host, page)
	etag := `"` + strconv.FormatUint(mix(sp.site.cfg.Seed, uint64(host), uint64(page)), 36) + `"`
	h := rw.Header()
	h["Etag"] = []string{etag}
	h["Last-Modified"] = []string{modified.Format(http.TimeFormat)}
	if notModified(r, etag, modified) {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	send(rw, r, typeHTML, write())
}

// notModified follows RFC 9110 section 13.2.2: if If-None-Match is present, it alone decides.
func notModified(r *http.Request, etag string, modified time.Time) bool {
	if tags := r.Header.Get("If-None-Match"); tags != "" {
		for tag := range strings.SplitSeq(tags, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == etag || tag == "*" {
				return true
			}
		}
		return false
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return err == nil && !modified.After(since)
}

// send answers 200 with a body of known length.
func send(rw http.ResponseWriter, r *http.Request, contentType []string, body []byte) {
	h := rw.Header()
	if h["Content-Type"] == nil {
		h["Content-Type"] = contentType
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	rw.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = rw.Write(body)
	}
}

func notFound(rw http.ResponseWriter) { http.Error(rw, "not found", http.StatusNotFound) }

// static serves the stylesheet and the picture of pages.
func (sp sitePages) static(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/static/site.css":
		send(rw, r, []string{"text/css; charset=utf-8"}, []byte("body { max-width: 40em; background: url(dot.png) }\n"))
	case "/static/dot.png":
		send(rw, r, []string{"image/png"}, []byte(dotPNG))
	default:
		notFound(rw)
	}
}

// dotPNG is one transparent pixel.
const dotPNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\x0bIDATx\x9cc\x60\x00\x02\x00\x00\x05\x00\x01z\x5e\xab\x3f\x00\x00\x00\x00IEND\xaeB\x60\x82"
