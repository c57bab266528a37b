package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"seine/internal/ops/history"
	"seine/internal/output/warc"
	"seine/internal/testing/testweb"
	"seine/internal/testing/warcio"
	"seine/internal/testing/warctest"
)

// captures has the pages of an archive, by URL.
type captures struct {
	t     *testing.T
	dir   string
	files []string
	pages map[string]*warctest.Record
	// answers are the responses that are not pages, by URL; a URL may have several.
	answers map[string][]*warctest.Record
}

// archiveOf reads the committed records of an archive. It checks that every page is there once, at
// the place in its index entry.
func archiveOf(t *testing.T, dir string) *captures {
	t.Helper()
	if err := verifyOutput(dir, "archive"); err != nil {
		t.Fatal(err)
	}
	commits, err := readCommits(dir, "archive")
	if err != nil {
		t.Fatal(err)
	}
	c := &captures{t: t, dir: dir, pages: make(map[string]*warctest.Record), answers: make(map[string][]*warctest.Record)}
	for _, commit := range commits {
		for _, f := range commit.Files {
			if f.IndexOf == "" {
				c.files = append(c.files, filepath.Join(dir, f.Path))
				continue
			}
			c.follow(filepath.Join(dir, f.Path), filepath.Join(dir, f.IndexOf))
		}
	}
	return c
}

// follow reads the records of a file through its index only.
func (c *captures) follow(index, file string) {
	c.t.Helper()
	lines, err := os.ReadFile(index)
	if err != nil {
		c.t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	for l := range strings.Lines(string(lines)) {
		var e struct{ URL, Status, Offset, Length, Filename string }
		if err := json.Unmarshal([]byte(l[strings.IndexByte(l, '{'):]), &e); err != nil || e.Filename != filepath.Base(file) {
			c.t.Fatalf("%s: %q, %v", index, l, err)
		}
		offset, _ := strconv.Atoi(e.Offset)
		length, _ := strconv.Atoi(e.Length)
		one, err := warctest.All(file, bytes.NewReader(content[offset:offset+length]))
		if err == nil && len(one) == 1 && (e.Status != "200" || strings.HasSuffix(e.URL, "/robots.txt")) {
			c.answers[e.URL] = append(c.answers[e.URL], one[0])
			continue
		}
		if err != nil || len(one) != 1 || one[0].Get("WARC-Target-URI") != e.URL || c.pages[e.URL] != nil && one[0].Type() != "revisit" {
			c.t.Fatalf("%s: %q leads to %d records, %v; or is there before", index, l, len(one), err)
		}
		if c.pages[e.URL] == nil {
			c.pages[e.URL] = one[0]
		}
	}
}

// sent is a body that a site sends: encoded as on the wire, and decoded.
type sent struct{ wire, plain []byte }

// serveEncodings adds pages in several encodings to the test web, and one that is too large for a
// message.
func serveEncodings(web *testweb.Web) map[string]sent {
	page := func(text string) []byte { return []byte("<!doctype html><title>x</title><p>" + text) }
	text := page(strings.Repeat("all of it, ", 500))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(text)
	_ = z.Close()
	noise := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(noise)
	large := page(hex.EncodeToString(noise))
	all := map[string]sent{
		"/archive/gzip": {zipped.Bytes(), text}, "/archive/chunked": {text, text}, "/archive/again": {text, text}, "/archive/large": {large, large},
	}
	for path, s := range all {
		web.Handle(0, path, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			if !bytes.Equal(s.wire, s.plain) {
				rw.Header().Set("Content-Encoding", "gzip")
			}
			if path != "/archive/chunked" {
				rw.Header().Set("Content-Length", strconv.Itoa(len(s.wire)))
			}
			_, _ = rw.Write(s.wire[:len(s.wire)/2])
			rw.(http.Flusher).Flush()
			_, _ = rw.Write(s.wire[len(s.wire)/2:])
		})
	}
	return all
}

// A crawl that is interrupted and killed has every page in its archive once, as the site sent it.
func TestCrawlWithAnArchive(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 150, Latency: 10 * time.Millisecond})
	extra := serveEncodings(web)
	base := strings.TrimSuffix(site.seed, "/")
	p := newWorkspace(t)
	dir := filepath.Join(t.TempDir(), "warc")
	web.Handle(0, "/archive/moved", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/archive/gzip", http.StatusFound) })
	args := []string{"--warc", dir, site.seed, base + "/archive/moved", base + "/archive/none"}
	for path := range extra {
		args = append(args, base+path)
	}
	for i, s := range []os.Signal{os.Interrupt, os.Kill} {
		c, target := p.crawl(args...), len(web.Requests())+50
		eventually(t, patience, "fetch some pages", func() (bool, string) { return len(web.Requests()) >= target || c.ended(), c.said() })
		c.signal(s)
		c.expect([]int{4, -1}[i])
	}
	c := p.crawl(args...)
	c.expect(0)
	want := len(site.pages) + len(extra)
	if s := c.summary(); len(s.Archives) != 1 || s.Archives[0].Pages != int64(want) || s.Archives[0].Out != dir || s.Records != int64(want) {
		t.Errorf("summary of %d pages: %d records, archives %+v", want, s.Records, s.Archives)
	}
	got := archiveOf(t, dir)
	if len(got.pages) != want {
		t.Errorf("%d pages in the archive, want %d", len(got.pages), want)
	}
	plain := make(map[string][]byte)
	for _, u := range site.pages {
		plain[u] = fetched(t, u)
		got.wants(u, plain[u])
	}
	for path, s := range extra {
		plain[base+path] = s.plain
		got.wants(base+path, s.wire)
	}
	for path, status := range map[string]string{"/robots.txt": "200", "/archive/moved": "302", "/archive/none": "404"} {
		if found := got.answers[base+path]; len(found) == 0 || !strings.HasPrefix(string(found[0].Block), "HTTP/1.1 "+status) {
			t.Errorf("%s is archived as %v", path, found)
		}
	}
	for path, status := range map[string]string{"/archive/large": "200", "/archive/moved": "302"} {
		got.wantsExplained(p.data, base+path, status)
	}
	if h := string(got.pages[base+"/archive/chunked"].Head()); !strings.Contains(h, "\r\nX-Orig-Transfer-Encoding: chunked\r\n") {
		t.Errorf("head of the page in chunks: %s", h)
	}
	for _, f := range warcio.Read(t, got.files...) {
		for _, r := range f.Records {
			if plain[r.URL] == nil {
				continue // a response that is not a page
			}
			if sum := sha256.Sum256(plain[r.URL]); r.Type == warc.TypeResponse && r.Content != hex.EncodeToString(sum[:]) {
				t.Errorf("warcio.js reads %s as something else", r.URL)
			}
		}
	}
}

// wantsExplained checks that seine explain prints the place of a URL in the archive.
func (c *captures) wantsExplained(data, url, status string) {
	c.t.Helper()
	out := runSeine(c.t, "explain", url, "--data", data, "--out", c.dir, "--json")
	var h history.History
	if err := json.Unmarshal([]byte(out.stdout.String()), &h); err != nil || len(h.Captures) == 0 {
		c.t.Fatalf("explain %s: %v, %s", url, err, out.said())
	}
	at := h.Captures[len(h.Captures)-1]
	content, err := os.ReadFile(filepath.Join(c.dir, at.File))
	if err != nil {
		c.t.Fatal(err)
	}
	one, err := warctest.All(at.File, bytes.NewReader(content[at.Offset:at.Offset+at.Length]))
	if err != nil || len(one) != 1 || one[0].Get("WARC-Target-URI") != url || at.Status != status {
		c.t.Errorf("explain %s: %+v leads to %v, %v", url, at, one, err)
	}
	if text := runSeine(c.t, "explain", url, "--data", data, "--out", c.dir).stdout.String(); !strings.Contains(text, at.File) || !strings.Contains(text, "at offset") {
		c.t.Errorf("explain %s: %s", url, text)
	}
}

// wants checks that a page is archived as the site sends it.
func (c *captures) wants(url string, wire []byte) {
	c.t.Helper()
	r := c.pages[url]
	switch {
	case r == nil:
		c.t.Errorf("%s is not in the archive", url)
	case r.Get("WARC-Payload-Digest") != warc.Digest(wire):
		c.t.Errorf("%s is archived as something else: %v", url, r.Fields)
	case r.Type() == warc.TypeResponse && !bytes.Equal(r.Payload(), wire):
		c.t.Errorf("%s is archived with %d bytes, %d were sent", url, len(r.Payload()), len(wire))
	case r.Type() != warc.TypeResponse && r.Type() != warc.TypeRevisit:
		c.t.Errorf("%s is a %s", url, r.Type())
	}
}

func fetched(t *testing.T, url string) []byte {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{ // not every resolver knows *.localhost
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			_, port, _ := net.SplitHostPort(addr)
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// A crawl that continues without its archive is not blocked by it. The archive can be resumed
// later.
func TestArchiveCanBeLeftAndTakenUpAgain(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 60})
	p := newWorkspace(t)
	dir := filepath.Join(t.TempDir(), "warc")
	for i, limit := range []int{10, 30} {
		c := p.crawl(append([]string{"--max-pages", fmt.Sprint(limit), site.seed}, [][]string{{"--warc", dir}, {"--change-output"}}[i]...)...)
		c.expect(0)
		if said := strings.Contains(c.stderr.String(), "flag=--warc"); said != (i == 1) {
			t.Errorf("with limit %d it says: %s", limit, c.stderr)
		}
	}
	p.crawl("--max-pages", "0", "--warc", dir).expect(0)
	got := archiveOf(t, dir)
	for _, u := range site.pages { // the stream still has the pages in between
		if got.pages[u] == nil {
			t.Errorf("%s is not in the archive", u)
		}
	}
	same := p.crawl("--warc", p.out, site.seed, "--change-output")
	same.expect(2)
	same.complains("is already used for --out")
}

// Encrypted records come with an encrypted archive: pages are not stored in the clear beside them.
func TestArchiveIsEncryptedAsTheRecordsAre(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 5})
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	p, archive, requests := newWorkspace(t), filepath.Join(t.TempDir(), "warc"), filepath.Join(t.TempDir(), "requests")
	p.crawl(site.seed, "--warc", archive, "--log-requests", requests, "--encrypt", id.Recipient().String()).expect(0)
	for _, dir := range []string{p.out, archive, requests} {
		wantUnreadable(t, dir)
	}
	found, err := filepath.Glob(filepath.Join(archive, "default", "*.warc.gz.age"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	plain := runSeine(t, "decrypt", found[0], "--identity", file(t, "id", id.String()))
	z, err := gzip.NewReader(strings.NewReader(plain.stdout.String()))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || !strings.Contains(string(text), "WARC-Target-URI: "+site.seed) {
		t.Errorf("decrypted it has no capture of %s: %v", site.seed, err)
	}
}
