package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	errorEach = 100             // of so many pages one fails once
	slowEach  = 100             // of so many hosts one is slow
	slowness  = 2 * time.Second // of its answers
	// pathOfPages is not a path that the pages of the real web link to.
	pathOfPages = "/seine-bench/"
	robotsTxt   = "User-agent: *\nDisallow: /admin/\nDisallow: /search\nAllow: /\n"
)

// web is the hosts h0.localhost, h1.localhost, …, each with the pages pathOfPages + 0, 1, ….
type web struct {
	options
	bodies      []body
	server      *http.Server
	port        string
	certificate []byte // PEM

	handshakes, resumed atomic.Int64

	mu    sync.Mutex
	hosts []hostLog
}

// hostLog is what a host was asked.
type hostLog struct {
	asked    []span
	answered map[int]int // page → times it was sent
	failed   map[int]bool
}

// span is the time from the start of a request to the end of its response.
type span struct{ from, to time.Time }

func startWeb(o options, bodies []body) (*web, error) {
	w := &web{options: o, bodies: bodies, hosts: make([]hostLog, o.Hosts)}
	for i := range w.hosts {
		w.hosts[i] = hostLog{answered: make(map[int]int), failed: make(map[int]bool)}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	_, w.port, _ = net.SplitHostPort(l.Addr().String())
	cert, text, err := selfSigned("*.localhost")
	if err != nil {
		return nil, err
	}
	w.certificate = text
	w.server = &http.Server{
		Handler: w, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0), // of connections that were killed
		TLSConfig: w.config(cert),
	}
	go func() { _ = w.server.ServeTLS(l, "", "") }()
	return w, nil
}

// config offers HTTP/2 to the even hosts alone, and counts handshakes.
func (w *web) config(cert tls.Certificate) *tls.Config {
	both := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
	both.VerifyConnection = func(s tls.ConnectionState) error {
		w.handshakes.Add(1)
		if s.DidResume {
			w.resumed.Add(1)
		}
		return nil
	}
	older := both.Clone()
	older.NextProtos = []string{"http/1.1"}
	both.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if n, ok := hostNumber(hello.ServerName); ok && n%2 == 1 {
			return older, nil
		}
		return nil, nil
	}
	return both
}

func hostNumber(name string) (int, bool) {
	label, _, _ := strings.Cut(name, ".")
	n, err := strconv.Atoi(strings.TrimPrefix(label, "h"))
	return n, err == nil
}

func (w *web) url(host, page int) string {
	return fmt.Sprintf("https://h%d.localhost:%s%s%d", host, w.port, pathOfPages, page)
}

// scope is a regular expression for the URLs of pages, and for the files that wget2 makes of them.
const scope = `\.localhost(:[0-9]+)?` + pathOfPages + `[0-9]+$`

// ServeHTTP implements http.Handler.
func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host, ok := hostNumber(r.Host)
	if !ok || host >= len(w.hosts) {
		http.Error(rw, "unknown host", http.StatusMisdirectedRequest)
		return
	}
	from := time.Now()
	if host%slowEach == slowEach-1 {
		select {
		case <-time.After(slowness):
		case <-r.Context().Done(): // the crawler was killed
		}
	}
	page, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, pathOfPages))
	switch {
	case r.URL.Path == "/robots.txt":
		_, _ = io.WriteString(rw, robotsTxt)
		page = -1
	case err != nil || page < 0 || page >= w.Pages:
		http.NotFound(rw, r)
	case w.fails(host, page):
		http.Error(rw, "try again", http.StatusServiceUnavailable)
		page = -1
	default:
		b := w.bodies[(host*w.Pages+page)%len(w.bodies)]
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		if !strings.Contains(r.Header.Get("Accept-Encoding"), b.coding) {
			b.coding, b.sent = "gzip", b.gzip
		}
		rw.Header().Set("Content-Encoding", b.coding)
		rw.Header().Set("Content-Length", strconv.Itoa(len(b.sent))) // wget2 1.99.1 crashes on large chunks
		if _, err := rw.Write(b.sent); err != nil {
			page = -1
		}
	}
	w.note(host, page, span{from, time.Now()})
}

// fails reports whether a request for a page is answered with an error: the first for some pages.
func (w *web) fails(host, page int) bool {
	if (host*w.Pages+page)%errorEach != errorEach/2 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.hosts[host].failed[page]
	w.hosts[host].failed[page] = true
	return !before
}

func (w *web) note(host, page int, at span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &w.hosts[host]
	h.asked = append(h.asked, at)
	if page >= 0 {
		h.answered[page]++
	}
}

// pages counts the different pages that were sent, and the requests.
func (w *web) pages() (pages, requests int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.hosts {
		pages += len(h.answered)
		requests += len(h.asked)
	}
	return pages, requests
}

// gaps returns the least time from a response to the next request to its host, and how often it was below the delay.
func (w *web) gaps() (least time.Duration, tooClose int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	least = time.Hour
	for _, h := range w.hosts {
		slices.SortFunc(h.asked, func(a, b span) int { return a.from.Compare(b.from) })
		for i := 1; i < len(h.asked); i++ {
			gap := h.asked[i].from.Sub(h.asked[i-1].to)
			if gap < w.Delay {
				tooClose++
			}
			least = min(least, gap)
		}
	}
	return least, tooClose
}
