package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"seine/internal/testing/testweb"
)

func TestCrawlWritesEveryPage(t *testing.T) {
	web := testweb.New(testweb.Config{Seed: 5, PagesPerHost: 40, PageBytes: 2048, RobotsTxt: testweb.RobotsMissing})
	server := testweb.Run(t, web)
	out := filepath.Join(t.TempDir(), "out.jsonl.zst")
	if err := crawl(options{starts: []string{"http://" + server.Addr() + "/"}, out: out, parallel: 4}); err != nil {
		t.Fatal(err)
	}

	seen := map[string]int{}
	for _, r := range readRecords(t, out) {
		seen[r.URL]++
		if r.Title == "" || r.Text == "" {
			t.Errorf("%s: title %q, %d bytes of text", r.URL, r.Title, len(r.Text))
		}
	}
	for _, path := range web.Pages(0) {
		if seen["http://"+server.Addr()+path] == 0 { // more than one is Colly's way: see the package comment
			t.Errorf("%s: no record", path)
		}
	}
}

func readRecords(t *testing.T, name string) []record {
	t.Helper()
	f, err := os.Open(name) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var records []record
	for dec := json.NewDecoder(z); ; {
		var r record
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return records
		} else if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
}
