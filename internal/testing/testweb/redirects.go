package testweb

import (
	"net/http"
	"strconv"
	"strings"
)

// maxHops is the maximum number of redirects before a page.
const maxHops = 4

// loopEntries are redirect loops; "/" links them if the web has redirects.
var loopEntries = [...]string{"/go/loop-a", "/go/self"}

var loops = map[string]string{
	"/go/loop-a": "/go/loop-b",
	"/go/loop-b": "/go/loop-a",
	"/go/self":   "/go/self",
}

// appendRedirect appends the path that leads to a redirected page.
func (s *site) appendRedirect(b []byte, _, page int) []byte {
	return strconv.AppendInt(append(b, "/go/"...), int64(page), 10)
}

// hops returns the number of redirects before the page: one for most.
func (s *site) hops(host, page int) int {
	h := s.hash(host, page, saltRedirect) >> 8
	if h%3 != 0 {
		return 1
	}
	return 2 + int(h>>8%(maxHops-1))
}

// redirect answers for /go/<page> and, inside a chain, /go/<page>/<hop>.
func (sp sitePages) redirect(rw http.ResponseWriter, r *http.Request, host int) {
	if to, ok := loops[r.URL.Path]; ok && sp.site.cfg.RedirectRate > 0 {
		location(rw, to, http.StatusFound)
		return
	}
	page, hop, ok := parseHop(r.URL.Path)
	if !ok || page >= sp.site.cfg.PagesPerHost || !sp.site.isRedirected(host, page) || hop >= sp.site.hops(host, page) {
		notFound(rw)
		return
	}
	to := "/go/" + strconv.Itoa(page) + "/" + strconv.Itoa(hop+1)
	if hop == sp.site.hops(host, page)-1 {
		to = sp.Path(host, page)
	}
	h := sp.site.hash(host, page, saltRedirect) >> 32
	switch h % 3 {
	case 0:
		to = "http://" + sp.base(r, host) + to
	case 1:
		to = strings.Repeat("../", strings.Count(r.URL.Path, "/")-1) + to[1:]
	}
	location(rw, to, redirectStatus(int(h>>8)+hop))
}

func redirectStatus(n int) int {
	return []int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	}[n%4]
}

// location redirects without making the target absolute, as http.Redirect does.
func location(rw http.ResponseWriter, to string, status int) {
	rw.Header().Set("Location", to)
	rw.WriteHeader(status)
}

func parseHop(path string) (page, hop int, ok bool) {
	first, second, chained := strings.Cut(strings.TrimPrefix(path, "/go/"), "/")
	page, err := strconv.Atoi(first)
	if err != nil || page <= 0 || !chained {
		return page, 0, err == nil && page > 0
	}
	hop, err = strconv.Atoi(second)
	return page, hop, err == nil && hop > 0
}
