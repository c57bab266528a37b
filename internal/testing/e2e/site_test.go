package e2e

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"seine/internal/testing/testweb"
	"seine/pkg/messages"
)

// site is a site to crawl, with the expected output.
type site struct {
	seed  string
	pages []string // URLs that must be in the output, each once
}

// testSite serves a test web with pages, faults and redirects.
func testSite(t *testing.T, cfg testweb.Config) (site, *testweb.Web) {
	t.Helper()
	w := testweb.New(cfg)
	s := testweb.Run(t, w)
	out := site{seed: s.URL(0, "/")}
	for _, p := range w.Pages(0) {
		out.pages = append(out.pages, s.URL(0, p))
	}
	return out, w
}

// docs serves a folder of real documentation, which `make sites` installs. Without it the test
// fails in CI and is skipped elsewhere.
func docs(t *testing.T, pkg, path string) site {
	t.Helper()
	root := ""
	for _, base := range []string{filepath.Join("..", "..", "..", ".cache", "sites"), "/"} {
		if dir := filepath.Join(base, path); isDir(dir) {
			root = dir
			break
		}
	}
	if root == "" {
		if os.Getenv("CI") != "" {
			t.Fatalf("the documentation of %s is missing: make sites", pkg)
		}
		t.Skipf("the documentation of %s is not here: make sites brings it", pkg)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.FileServer(http.Dir(root)), ReadHeaderTimeout: time.Second}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close() })
	base := "http://" + l.Addr().String()
	return site{seed: base + "/index.html"}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// records reads the committed output of a crawl after checking its files against the commit log.
func records(t *testing.T, out, crawl string) []messages.Record {
	t.Helper()
	return recordsBy(t, "default", out, crawl)
}

// recordsBy is records for a named writer.
func recordsBy(t *testing.T, name, out, crawl string) []messages.Record {
	t.Helper()
	if err := verifyOutput(out, name); err != nil {
		t.Fatal(err)
	}
	commits, err := readCommits(out, name)
	if err != nil {
		t.Fatal(err)
	}
	var all []messages.Record
	for _, c := range commits {
		for _, f := range c.Files {
			if f.Crawl == crawl {
				all = append(all, readChunk(t, filepath.Join(out, f.Path))...)
			}
		}
	}
	return all
}

func readChunk(t *testing.T, path string) []messages.Record {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var rs []messages.Record
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var r messages.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rs = append(rs, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rs
}

// wantPages checks that the records have these URLs, each once.
func wantPages(t *testing.T, got []messages.Record, want []string) {
	t.Helper()
	seen := make(map[string]int)
	for _, r := range got {
		seen[r.URL]++
	}
	var missing, repeated, extra []string
	wanted := make(map[string]bool)
	for _, u := range want {
		wanted[u] = true
		if seen[u] == 0 {
			missing = append(missing, u)
		}
	}
	for u, n := range seen {
		if n > 1 {
			repeated = append(repeated, u)
		}
		if !wanted[u] {
			extra = append(extra, u)
		}
	}
	for what, urls := range map[string][]string{"missing": missing, "repeated": repeated, "not expected": extra} {
		if len(urls) > 0 {
			slices.Sort(urls)
			t.Errorf("%d of %d pages are %s: %s", len(urls), len(want), what, strings.Join(urls[:min(5, len(urls))], " "))
		}
	}
}
