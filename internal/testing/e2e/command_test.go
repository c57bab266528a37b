package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/html"

	"seine/internal/base/childproc"
	"seine/internal/run/crawl"
	"seine/internal/testing/testweb"
)

// command is a run of `seine` with its outputs.
type command struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr *logBuffer
	gone           chan struct{}
}

// seine starts the command in a directory; "" is the test's own.
func seine(t *testing.T, dir string, args ...string) *command {
	t.Helper()
	return seineIn(t, dir, nil, args...)
}

// seineFrom starts the command with a standard input.
func seineFrom(t *testing.T, in *os.File, args ...string) *command {
	t.Helper()
	return seineIn(t, "", in, args...)
}

func seineIn(t *testing.T, dir string, in *os.File, args ...string) *command {
	t.Helper()
	c := &command{t: t, cmd: exec.Command(filepath.Join(bin, "seine"), args...), stdout: new(logBuffer), stderr: new(logBuffer), gone: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = dir, c.stdout, c.stderr
	if in != nil {
		c.cmd.Stdin = in
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SEINE_") {
			c.cmd.Env = append(c.cmd.Env, v)
		}
	}
	if err := childproc.Start(c.cmd); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait() // the exit code has the result
		close(c.gone)
	}()
	t.Cleanup(func() {
		c.signal(syscall.SIGKILL)
		<-c.gone
	})
	return c
}

func (c *command) signal(s os.Signal) { _ = c.cmd.Process.Signal(s) }

// ended reports whether the command has ended.
func (c *command) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// patience is the time limit for the end of a command.
const patience = 60 * time.Second

// expect waits for the end of the command and checks its exit code.
func (c *command) expect(code int) {
	c.t.Helper()
	c.within(patience, code)
}

// within is expect with a time limit.
func (c *command) within(limit time.Duration, code int) {
	c.t.Helper()
	select {
	case <-c.gone:
	case <-time.After(limit):
		c.t.Fatalf("%v does not end; it said:\n%s", c.cmd.Args, c.said())
	}
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("%v ended with %d, want %d; it said:\n%s", c.cmd.Args, got, code, c.said())
	}
}

func (c *command) said() string {
	text := c.stdout.String() + c.stderr.String()
	return text[max(0, len(text)-3000):]
}

// complains checks that standard error contains each of the parts.
func (c *command) complains(parts ...string) {
	c.t.Helper()
	for _, part := range parts {
		if !strings.Contains(c.stderr.String(), part) {
			c.t.Errorf("%v does not say %q, but: %s", c.cmd.Args[1:], part, c.said())
		}
	}
}

// summary reads the one JSON object on standard output.
func (c *command) summary() crawl.Summary {
	c.t.Helper()
	var s crawl.Summary
	d := json.NewDecoder(strings.NewReader(c.stdout.String()))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		c.t.Fatalf("standard output is no summary: %v\n%s", err, c.said())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		c.t.Errorf("standard output has more than the summary:\n%s", c.stdout.String())
	}
	return s
}

// workspace has the places of a crawl's state and output.
type workspace struct {
	t         *testing.T
	data, out string
}

func newWorkspace(t *testing.T) workspace {
	t.Helper()
	dir := t.TempDir()
	return workspace{t, filepath.Join(dir, "data"), filepath.Join(dir, "out")}
}

// crawl starts `seine crawl` with the flags for crawls on loopback.
func (w workspace) crawl(args ...string) *command {
	w.t.Helper()
	return seine(w.t, "", append([]string{
		"crawl", "--data", w.data, "--out", w.out, "--allow-private", "--delay", "0s", "--per-host", "16", "--quiet", "--json",
	}, args...)...)
}

// file writes a file of the test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// lines reads an output file in the format of its extension.
func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader = bytes.NewReader(text)
	switch filepath.Ext(path) {
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".zst":
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var all []map[string]any
	s := bufio.NewScanner(r)
	s.Buffer(nil, 4<<20)
	for s.Scan() {
		var m map[string]any
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, m)
	}
	if err := s.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return all
}

// gate is a page whose response waits until the gate is opened.
type gate struct {
	asked, opened chan struct{}
	ask, open     func()
}

func newGate(t *testing.T, web *testweb.Web, path string) *gate {
	t.Helper()
	g := &gate{asked: make(chan struct{}), opened: make(chan struct{})}
	g.ask, g.open = sync.OnceFunc(func() { close(g.asked) }), sync.OnceFunc(func() { close(g.opened) })
	web.Handle(0, path, func(rw http.ResponseWriter, r *http.Request) {
		g.ask()
		select {
		case <-g.opened:
		case <-r.Context().Done():
			return
		}
		rw.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(rw, "<title>Gate</title><p>Open.</p>")
	})
	t.Cleanup(g.open)
	return g
}

// wait waits until the gate has been requested.
func (g *gate) wait(t *testing.T) {
	t.Helper()
	select {
	case <-g.asked:
	case <-time.After(patience):
		t.Fatal("nobody asks for the gate")
	}
}

// walker is a minimal crawler, as a reference.
type walker struct {
	t      *testing.T
	client *http.Client
	follow func(url string) bool
	seen   map[string]bool
	depths map[string]int // of the HTML pages, as the number of links from the seed
}

// walk finds all HTML pages that links lead to from a seed. The seed need not match follow.
func walk(t *testing.T, client *http.Client, seed string, follow func(url string) bool) map[string]int {
	t.Helper()
	client.CheckRedirect = nil
	w := &walker{t: t, client: client, follow: follow, seen: map[string]bool{seed: true}, depths: make(map[string]int)}
	for depth, level := 0, []string{seed}; len(level) > 0; depth++ {
		var next []string
		for _, u := range level {
			next = append(next, w.visit(u, depth)...)
		}
		level = next
	}
	client.CloseIdleConnections()
	return w.depths
}

// visit reads a page and returns its links that are new.
func (w *walker) visit(u string, depth int) (found []string) {
	w.t.Helper()
	resp, err := w.client.Get(u)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	at := resp.Request.URL // after redirects
	if _, known := w.depths[at.String()]; known || resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	w.depths[at.String()], w.seen[at.String()] = depth, true
	for z := html.NewTokenizer(resp.Body); z.Next() != html.ErrorToken; {
		href, ok := hrefOf(z.Token())
		if !ok {
			continue
		}
		to, err := at.Parse(strings.TrimSpace(href.ref))
		if err != nil || to.Scheme != "http" {
			continue
		}
		if href.base {
			at = to
			continue
		}
		if text := plain(to); !w.seen[text] && w.follow(text) {
			w.seen[text] = true
			found = append(found, text)
		}
	}
	return found
}

// href is a reference on a page; base marks the one that others are relative to.
type href struct {
	ref  string
	base bool
}

func hrefOf(tag html.Token) (href, bool) {
	if tag.Type == html.StartTagToken && (tag.Data == "a" || tag.Data == "base") {
		for _, a := range tag.Attr {
			if a.Key == "href" {
				return href{a.Val, tag.Data == "base"}, true
			}
		}
	}
	return href{}, false
}

// plain formats a URL without its fragment.
func plain(u *url.URL) string {
	bare := *u
	bare.Fragment, bare.RawFragment = "", ""
	if bare.Path == "" {
		bare.Path = "/"
	}
	return bare.String()
}

// sameHost accepts links to the host of a seed.
func sameHost(seed string) func(string) bool {
	scheme, rest, _ := strings.Cut(seed, "://")
	host, _, _ := strings.Cut(rest, "/")
	prefix := scheme + "://" + host + "/"
	return func(u string) bool { return strings.HasPrefix(u, prefix) }
}
