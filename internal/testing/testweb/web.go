package testweb

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Web is a whole web as one http.Handler. It is safe for concurrent use.
type Web struct {
	site     *site
	log      *Log
	handler  http.Handler // answer, with recording
	requests atomic.Uint64
	sessions atomic.Uint64 // number of session ids issued, on sites that have them
	hosts    []hostState

	mu    sync.Mutex
	tries map[[2]int]int // answers so far, by host and page; flaky pages only
}

// New returns a web; Run and Serve serve it.
func New(cfg Config) *Web {
	cfg = cfg.withDefaults()
	w := &Web{
		site:  &site{cfg: cfg, text: newVocabulary(cfg.Seed)},
		log:   NewLog(cfg.LogLimit),
		hosts: make([]hostState, cfg.Hosts),
		tries: map[[2]int]int{},
	}
	w.handler = w.log.Handler(http.HandlerFunc(w.answer), func(r *http.Request) string {
		if host := w.hostOf(r); host >= 0 {
			return w.Name(host)
		}
		return r.Host
	})
	return w
}

// ServeHTTP implements http.Handler.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) { w.handler.ServeHTTP(rw, r) }

// Name returns the name of a host without a port.
func (w *Web) Name(host int) string { return w.site.name(host) }

// Hosts returns the number of hosts.
func (w *Web) Hosts() int { return w.site.cfg.Hosts }

// Log returns the log of all hosts.
func (w *Web) Log() *Log { return w.log }

// Requests returns a copy of the log, ordered by At.
func (w *Web) Requests() []Request { return w.log.Requests() }

// RequestsTo returns a copy of one host's log, ordered by At.
func (w *Web) RequestsTo(host int) []Request {
	name := w.Name(host)
	return w.log.Select(func(r *Request) bool { return r.Host == name })
}

// Count returns the number of requests for a path (with its query) of a host, with any method.
func (w *Web) Count(host int, path string) int {
	name := w.Name(host)
	return len(w.log.Select(func(r *Request) bool { return r.Host == name && r.Path == path }))
}

// MinGap returns MinGap of one host's requests, including robots.txt.
func (w *Web) MinGap(host int) time.Duration { return MinGap(w.RequestsTo(host)) }

// MinStartGap returns MinStartGap of one host's requests, including robots.txt.
func (w *Web) MinStartGap(host int) time.Duration { return MinStartGap(w.RequestsTo(host)) }

// MaxConcurrent returns MaxConcurrent of one host's requests.
func (w *Web) MaxConcurrent(host int) int { return MaxConcurrent(w.RequestsTo(host)) }

// answer waits for the latency and then answers from the first that applies: a host that is down, a
// handler of the test, a host's status, the site.
func (w *Web) answer(rw http.ResponseWriter, r *http.Request) {
	if !sleep(r.Context(), w.latency()) {
		return
	}
	host := w.hostOf(r)
	if host < 0 {
		http.Error(rw, "no such host", http.StatusMisdirectedRequest)
		return
	}
	if w.hosts[host].intercept(rw, r) {
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		rw.Header().Set("Allow", "GET, HEAD")
		http.Error(rw, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	w.route(rw, r, host)
}

func (w *Web) latency() time.Duration {
	cfg := &w.site.cfg
	if cfg.LatencyJitter <= 0 {
		return cfg.Latency
	}
	h := mix(cfg.Seed, saltLatency, w.requests.Add(1))
	return cfg.Latency + time.Duration(fraction(h)*float64(cfg.LatencyJitter))
}

// route selects a handler by the first folder; the remaining paths are pages or missing.
func (w *Web) route(rw http.ResponseWriter, r *http.Request, host int) {
	uri := canonicalURI(r.URL)
	folder, _, nested := strings.Cut(uri[1:], "/")
	switch {
	case uri == "/robots.txt":
		sitePages{w}.robots(rw, r, host)
	case !nested && strings.HasPrefix(folder, "sitemap"):
		sitePages{w}.sitemap(rw, r, host)
	case w.site.isEndless():
		w.endless(rw, r, host, uri)
	case folder == "go":
		sitePages{w}.redirect(rw, r, host)
	case folder == "private":
		sitePages{w}.private(rw, r, host, uri)
	case folder == "static":
		sitePages{w}.static(rw, r)
	case folder == "missing":
		sitePages{w}.missing(rw, host, uri)
	case folder == "special" && host == 0 && w.site.cfg.Special:
		specialAnswers{w}.special(rw, r)
	case w.site.cfg.Traps && isTrapFolder(folder):
		sitePages{w}.trap(rw, r, folder)
	default:
		sitePages{w}.page(rw, r, host, uri)
	}
}

// hostOf maps the Host header to a host: -1 for a number out of range, 0 for any other name.
func (w *Web) hostOf(r *http.Request) int {
	name := strings.TrimSuffix(r.Host, portOf(r.Host))
	label, domain, _ := strings.Cut(name, ".")
	if len(label) < 2 || label[0]|0x20 != 'h' || !strings.EqualFold(domain, w.site.cfg.Domain) {
		return 0
	}
	n, err := strconv.Atoi(label[1:])
	if err != nil {
		return 0
	}
	if n < 0 || n >= w.site.cfg.Hosts {
		return -1
	}
	return n
}

// canonicalURI returns the path and query with the path escaped as Go does it.
func canonicalURI(u *url.URL) string {
	path := u.EscapedPath()
	if u.RawPath != "" {
		path = (&url.URL{Path: u.Path}).EscapedPath()
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// sleep waits. It returns false if the client leaves first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
