package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"seine/internal/output"
	"seine/internal/run/crawl"
	"seine/internal/testing/freeport"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
)

func TestUnreachableNATSIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	p := newWorkspace(t)
	c := p.crawl("--nats", fmt.Sprintf("nats://user:secret@127.0.0.1:%d", freeport.Get(t)), "http://127.0.0.1:1/")
	c.expect(1)
	c.complains("connect to NATS at nats://", "127.0.0.1:", "--nats")
	if strings.Contains(c.said(), "secret") {
		t.Errorf("the password is shown: %s", c.said())
	}
	wantEmpty(t, filepath.Dir(p.data))
}

func TestUnwritableDirectoriesAreSaidAtOnce(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 20})
	plain := file(t, "plain", "")
	for name, tt := range map[string]struct {
		unwritable func(t *testing.T) string
		says       string
	}{
		"a file":           {func(*testing.T) string { return plain }, "not a directory"},
		"below a file":     {func(*testing.T) string { return filepath.Join(plain, "x") }, "not a directory"},
		"a read-only disk": {func(t *testing.T) string { return mount(t, "ro,size=1m") }, "read-only file system"},
	} {
		t.Run("out is "+name, func(t *testing.T) {
			p := newWorkspace(t)
			bad := workspace{t, p.data, tt.unwritable(t)}
			c := bad.crawl(site.seed)
			c.expect(1)
			c.complains("--out "+bad.out, tt.says)
			p.crawl(site.seed).expect(0) // with a valid --out nothing is lost
			wantPages(t, records(t, p.out, "default"), site.pages)
		})
		t.Run("data is "+name, func(t *testing.T) {
			before := len(web.Requests())
			bad := newWorkspace(t)
			bad.data = tt.unwritable(t)
			c := bad.crawl(site.seed)
			c.expect(1)
			c.complains("--data "+bad.data, tt.says)
			if n := len(web.Requests()) - before; n != 0 {
				t.Errorf("%d requests were made", n)
			}
		})
	}
}

// mount mounts a disk for the test.
func mount(t *testing.T, options string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a small disk takes root")
	}
	dir := t.TempDir()
	var flags uintptr
	if rest, ok := strings.CutPrefix(options, "ro,"); ok {
		flags, options = syscall.MS_RDONLY, rest
	}
	if err := syscall.Mount("none", dir, "tmpfs", flags, options); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// enlarge adds space to a disk of mount.
func enlarge(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, "size=512m"); err != nil {
		t.Fatal(err)
	}
}

const noSpace = "no space left on device"

func TestFullOutputDiskIsSaidAndLosesNothing(t *testing.T) {
	t.Parallel()
	disk := mount(t, "size=256k")
	site, _ := testSite(t, testweb.Config{PagesPerHost: 300})
	p := newWorkspace(t)
	p.out = filepath.Join(disk, "out")
	c := p.crawl(site.seed)
	c.expect(1)
	c.complains(noSpace, p.out)
	if s := c.summary(); s.Outcome != crawl.OutcomeFailed || !strings.Contains(s.Error, noSpace) {
		t.Errorf("summary: %+v", s)
	}
	enlarge(t, disk)
	p.crawl(site.seed).expect(0)
	wantPages(t, records(t, p.out, "default"), site.pages)
}

// The disk is full in the frontier's store or in the streams, before the first page or later. The
// error is reported and nothing is lost.
func TestFullDataDiskIsSaidAndLosesNothing(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"1m", "4m", "16m"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			disk := mount(t, "size="+size)
			site, _ := testSite(t, testweb.Config{PagesPerHost: 300, PageBytes: 64 << 10})
			p := newWorkspace(t)
			p.data = filepath.Join(disk, "data")
			c := p.crawl(site.seed)
			eventually(t, 15*time.Second, "say that the disk is full, and end", func() (bool, string) { return c.ended(), c.said() })
			c.expect(1)
			if said := c.stderr.String(); !strings.Contains(said, noSpace) && !strings.Contains(said, "the disk is full") {
				t.Errorf("it ended without saying why: %s", c.said())
			}
			enlarge(t, disk)
			p.crawl(site.seed).expect(0)
			wantPages(t, records(t, p.out, "default"), site.pages)
		})
	}
}

// responseCases is a crawl of single responses of the test web.
type responseCases struct {
	paths    []string
	requests map[messages.Class]int64
	pages    []string // paths with a record
}

func (a *responseCases) add(class messages.Class, requests int64, path string) {
	a.paths = append(a.paths, path)
	if a.requests == nil {
		a.requests = make(map[messages.Class]int64)
	}
	a.requests[class] += requests
	if class == messages.OK {
		a.pages = append(a.pages, path)
	}
}

// run crawls exactly the paths and checks the outcome of each.
func (a *responseCases) run(t *testing.T, web *testweb.Web, spec string) map[string]messages.Record {
	t.Helper()
	s := testweb.Run(t, web)
	p := newWorkspace(t)
	args := []string{"--spec", file(t, "spec.yaml", spec), "--max-depth", "0"}
	for _, path := range a.paths {
		args = append(args, s.URL(0, path))
	}
	c := p.crawl(args...)
	c.expect(0)
	got := c.summary()
	for class, want := range a.requests {
		if got.Requests[class] != want {
			t.Errorf("%d requests ended with %s, want %d; all: %v", got.Requests[class], class, want, got.Requests)
		}
	}
	if len(got.Requests) != len(a.requests) {
		t.Errorf("requests ended with %v, want %v", got.Requests, a.requests)
	}
	if got.Outcome != crawl.OutcomeComplete || got.URLs.Open != 0 {
		t.Errorf("summary: %+v", got)
	}
	byPath := make(map[string]messages.Record)
	var want []string
	rs := records(t, p.out, "default")
	for _, path := range a.pages {
		want = append(want, s.URL(0, path))
	}
	wantPages(t, rs, want)
	for _, r := range rs {
		byPath[strings.TrimPrefix(r.URL, strings.TrimSuffix(s.URL(0, "/"), "/"))] = r
	}
	return byPath
}

// stream serves HTML of unknown length, written by send.
func stream(web *testweb.Web, path string, send func(rw http.ResponseWriter, r *http.Request)) {
	web.Handle(0, path, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		send(rw, r)
	})
}

func TestBodiesWithoutMeasure(t *testing.T) {
	t.Parallel()
	web := testweb.New(testweb.Config{Special: true, RobotsTxt: testweb.RobotsMissing})
	megabyte := []byte(strings.Repeat("<p>On and on.</p>\n", 1<<20/18))
	stream(web, "/bulk", func(rw http.ResponseWriter, _ *http.Request) { // 100 MB without a Content-Length
		for range 100 {
			if _, err := rw.Write(megabyte); err != nil {
				return
			}
		}
	})
	wall := strings.Repeat("water ", 1<<20/6)
	stream(web, "/wall", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "<title>Wall</title><p>"+wall)
	})
	var a responseCases
	a.add(messages.TooLarge, 1, "/special/big?mb=100")
	a.add(messages.TooLarge, 1, "/bulk")
	a.add(messages.TooLarge, 1, "/special/endless")
	a.add(messages.TooLarge, 1, "/special/bomb?mb=64")
	a.add(messages.TooLarge, 1, "/special/headers?kb=512")
	a.add(messages.OK, 1, "/special/big?mb=20")
	a.add(messages.OK, 1, "/wall")
	a.add(messages.OK, 1, "/special/empty")
	rs := a.run(t, web, "{}")
	if r := rs["/wall"]; r.Title != "Wall" || len(r.Text) < 256<<10 || !strings.HasPrefix(wall, r.Text[:1000]) {
		t.Errorf("the page of one long line has title %q and %d bytes of text", r.Title, len(r.Text))
	}
	if r := rs["/special/big?mb=20"]; len(r.Text) < 256<<10 {
		t.Errorf("a page of 20 MB has %d bytes of text", len(r.Text))
	}
}

func TestAnswersThatDoNotEnd(t *testing.T) {
	t.Parallel()
	web := testweb.New(testweb.Config{Special: true, RobotsTxt: testweb.RobotsMissing})
	var a responseCases
	a.add(messages.Timeout, 2, "/special/drip?n=100000&ms=20") // never silent
	a.add(messages.Timeout, 2, "/special/stall")
	a.add(messages.Timeout, 2, "/special/slow?ms=60000")
	a.add(messages.OK, 1, "/special/ok")
	a.run(t, web, "timeout: 3s\nmax_attempts: 2\n")
}

func TestBrokenAnswersHaveAnOutcome(t *testing.T) {
	t.Parallel()
	web := testweb.New(testweb.Config{Special: true, RobotsTxt: testweb.RobotsMissing})
	web.Handle(0, "/garbage", raw("SSH-2.0-OpenSSH_9.2\r\n\r\n"))
	web.Handle(0, "/closed", raw(""))
	web.Handle(0, "/nowhere", raw("HTTP/1.1 301 Moved\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
	web.Handle(0, "/encoding", raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: compress\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab"))
	web.Handle(0, "/chunks", raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnot a chunk"))
	var a responseCases
	for _, path := range []string{"ok", "gzip", "deflate", "deflate?raw=1", "badlength?over=1", "charset/latin1", "charset/utf16", "charset/shift_jis", "charset/wrong", "charset/invalid"} {
		a.add(messages.OK, 1, "/special/"+path)
	}
	a.add(messages.BadEncoding, 1, "/special/brokengzip")
	a.add(messages.BadEncoding, 1, "/encoding")
	a.add(messages.ProtocolError, 2, "/special/reset")
	a.add(messages.ProtocolError, 2, "/special/badlength")
	a.add(messages.ProtocolError, 2, "/garbage")
	a.add(messages.ProtocolError, 2, "/chunks")
	a.add(messages.ConnectFailure, 2, "/closed")
	a.add(messages.Redirect, 2, "/special/redirect-loop")
	a.add(messages.ClientError, 1, "/nowhere")
	a.add(messages.ClientError, 1, "/special/status?code=418")
	a.add(messages.Gone, 1, "/special/status?code=410")
	a.add(messages.ServerError, 2, "/special/status?code=500")
	a.add(messages.UnsupportedType, 1, "/special/type?t=image/png")
	rs := a.run(t, web, "max_attempts: 2\n")
	for name, want := range map[string]string{
		"latin1": testweb.CharsetText, "utf16": testweb.CharsetText, "wrong": "Caf", "shift_jis": testweb.CharsetJapanese, "invalid": "caf",
	} {
		r := rs["/special/charset/"+name]
		if !strings.Contains(r.Title, want) || !strings.Contains(r.Text, want) || !utf8.ValidString(r.Title+r.Text) {
			t.Errorf("the page in %s has title %q and text %q, want %q", name, r.Title, r.Text, want)
		}
	}
}

// raw answers with exactly these bytes and closes the connection.
func raw(answer string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}
}

func TestAllLinksOfAPageOnOneLineAreFollowed(t *testing.T) {
	t.Parallel()
	web := testweb.New(testweb.Config{Special: true, PagesPerHost: 1})
	s := testweb.Run(t, web)
	const path, links = "/special/oneline?kb=1024", 1024
	p := newWorkspace(t)
	spec := file(t, "spec.yaml", "traps: {same_content_after: 0}\n") // the pages behind the links have the same content
	p.crawl("--spec", spec, "--max-depth", "1", s.URL(0, path)).expect(0)
	want := []string{s.URL(0, path)}
	for n := range links {
		want = append(want, s.URL(0, fmt.Sprintf("/special/ok?n=%d", n)))
	}
	wantPages(t, records(t, p.out, "default"), want)
}

// commits reads the commit log if it exists.
func commits(t *testing.T, out string) []output.Commit {
	t.Helper()
	cs, err := readCommits(out, "default")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return cs
}

func TestMalformedSeedsAreDeadLettersAndCostNoOther(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 30})
	c := newCluster(t, shape{})
	bus := c.bus()
	const bad = "http://[broken/"
	c.begin(bus, "x", quick(), "# two lines, and one between", site.pages[3], bad, site.seed)
	eventually(t, patience, "write every page", func() (bool, string) { // a newly started writer may lag behind
		n := 0
		for _, commit := range commits(t, c.out()) {
			n += commit.Records()
		}
		return n >= len(site.pages), fmt.Sprint(n, " records")
	}, c.all()...)
	c.finish(bus, "x", patience)
	wantPages(t, records(t, c.out(), "x"), site.pages)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	dead, err := bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		t.Fatal(err)
	}
	if n := dead.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("%d dead letters, want 1", n)
	}
	m, err := dead.GetLastMsgForSubject(ctx, messages.SubjectDead(messages.StageFrontier, "x"))
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Data) != bad {
		t.Errorf("the dead letter is %q, want %q", m.Data, bad)
	}
	for header, want := range map[string]string{
		messages.HeaderDeadReason: bad, messages.HeaderDeadStage: messages.StageFrontier,
		messages.HeaderDeadSubject: messages.SubjectSeeds("x"), messages.HeaderDeadStream: messages.StreamSeeds,
		messages.HeaderDeadSequence: "1",
	} {
		if got := m.Header.Get(header); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
}
