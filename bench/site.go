package main

import (
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"seine/internal/testing/testweb"
)

// maxPages of the test web, of 20 KB each. The first maxHeld are held in memory.
const maxPages, maxHeld = 100_000, 20_000

// siteOptions say what to serve: a folder, or pages of the test web.
type siteOptions struct {
	Dir   string
	Index string
	Pages int
	TLS   bool
}

func (o *siteOptions) flags(f *flag.FlagSet) {
	f.StringVar(&o.Dir, "dir", "", "serve this `folder` of HTML files instead of the test web")
	f.StringVar(&o.Index, "index", "index.html", "`file` of the folder to start at")
	f.IntVar(&o.Pages, "pages", 3000, "`number` of pages of the test web, which adds some of its own")
	f.BoolVar(&o.TLS, "tls", false, "serve by HTTPS, with HTTP/2; SSL_CERT_FILE tells crawlers the certificate, which those in Go go by")
}

func (o *siteOptions) check() error {
	if o.Dir == "" {
		if o.Pages < 1 || o.Pages > maxPages {
			return fmt.Errorf("--pages: from 1 to %d", maxPages)
		}
		return nil
	}
	abs, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	o.Dir, o.Index = abs, strings.TrimPrefix(o.Index, "/")
	if _, err := os.Stat(filepath.Join(o.Dir, o.Index)); err != nil {
		return fmt.Errorf("--dir, --index: %w", err)
	}
	return nil
}

// args are for the process that serves.
func (o *siteOptions) args() []string {
	return []string{serveCommand, "--dir", o.Dir, "--index", o.Index, "--pages", fmt.Sprint(o.Pages), fmt.Sprintf("--tls=%t", o.TLS)}
}

// start is the path to start at.
func (o *siteOptions) start() string {
	if o.Dir == "" {
		return "/"
	}
	return (&url.URL{Path: "/" + o.Index}).EscapedPath()
}

// handler serves without robots.txt, errors, traps or compression: the comparison is of speed on sound pages.
func (o *siteOptions) handler() http.Handler {
	if o.Dir != "" {
		return folder(o.Dir)
	}
	web := testweb.New(testweb.Config{Seed: 1, PagesPerHost: o.Pages, RobotsTxt: testweb.RobotsMissing, LogLimit: 1})
	return &plain{next: web, pages: map[string][]byte{}}
}

// addresses is what the serving process prints first.
type addresses struct {
	URL         string // where to start
	Control     string
	Certificate string // of the site, in PEM; empty without TLS
}

// serve is the serving process. It ends when its standard input does, so it never outlives the bench.
func serve(args []string) error {
	var o siteOptions
	f := flag.NewFlagSet(serveCommand, flag.ContinueOnError)
	o.flags(f)
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	debug.SetGCPercent(400) // it shares the cores with the crawlers: spend memory rather than time
	counted := &counter{next: o.handler()}
	control, err := listen(counted.control())
	if err != nil {
		return err
	}
	a := addresses{Control: "http://" + control}
	if o.TLS {
		site := listenTLS(counted)
		a.URL = site.URL + o.start()
		a.Certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw}))
	} else {
		site, err := listen(counted)
		if err != nil {
			return err
		}
		a.URL = "http://" + site + o.start()
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		return fmt.Errorf("say addresses: %w", err)
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err // nobody is left to read it
}

// listen serves on a free port of the loopback interface until the process ends.
func listen(h http.Handler) (addr string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	return l.Addr().String(), nil
}

// listenTLS is listen for TLS 1.3 and HTTP/2, with the certificate that net/http has for tests.
func listenTLS(h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	return s
}

// folder serves files. Unlike http.FileServer it never redirects index.html, nor lists folders.
type folder string

func (root folder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := filepath.Join(string(root), filepath.FromSlash(path.Clean("/"+r.URL.Path)))
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir() && !strings.HasSuffix(r.URL.Path, "/"):
		http.Redirect(w, r, path.Base(name)+"/", http.StatusMovedPermanently)
		return
	case err == nil && info.IsDir():
		name = filepath.Join(name, "index.html")
	}
	f, err := os.Open(name) //nolint:gosec // below root, or where a link of root's owner leads
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, name, info.ModTime(), f)
}

// stats is what the site has seen since it was reset.
type stats struct {
	Requests int
	Pages    int           // distinct URIs that answered 200 with HTML
	CPU      time.Duration // of the serving process
}

// counter counts what it serves. The figures are those of an answer's head: a client that has it is counted.
type counter struct {
	next http.Handler

	mu       sync.Mutex
	requests int
	pages    map[string]struct{}
	cpu      time.Duration // at the reset
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.requests++
	c.mu.Unlock()
	c.next.ServeHTTP(&answer{ResponseWriter: w, counter: c, request: r}, r)
}

func (c *counter) page(u *url.URL) {
	uri := (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages == nil {
		c.pages = map[string]struct{}{}
	}
	c.pages[uri] = struct{}{}
}

// control answers the bench, on an address of its own.
func (c *counter) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /reset", func(http.ResponseWriter, *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests, c.pages, c.cpu = 0, nil, ownCPU()
	})
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		s := stats{Requests: c.requests, Pages: len(c.pages), CPU: ownCPU() - c.cpu}
		c.mu.Unlock()
		_ = json.NewEncoder(w).Encode(s)
	})
	mux.HandleFunc("GET /pages", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		uris := make([]string, 0, len(c.pages))
		for uri := range c.pages {
			uris = append(uris, uri)
		}
		c.mu.Unlock()
		slices.Sort(uris)
		_ = json.NewEncoder(w).Encode(uris)
	})
	return mux
}

func ownCPU() time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	return usageOf(&ru, 0).CPU
}

// answer reports an HTML page to the counter before its first byte is sent.
type answer struct {
	http.ResponseWriter
	counter *counter
	request *http.Request
	begun   bool
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status == http.StatusOK && isHTML(a.Header()) && !a.begun && a.request.Method == http.MethodGet {
		a.counter.page(a.request.URL)
	}
	a.begun = a.begun || status >= http.StatusOK
	a.ResponseWriter.WriteHeader(status)
}

func isHTML(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), "text/html") }

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
	return a.ResponseWriter.Write(p) // it is the ResponseWriter
}

// ReadFrom implements io.ReaderFrom, so that files are still sent without a copy.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	if !a.begun {
		a.WriteHeader(http.StatusOK)
	}
	return io.Copy(a.ResponseWriter, r) // it is the ResponseWriter
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
