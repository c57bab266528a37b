package writer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"seine/internal/output/warc"
	"seine/internal/testing/warcio"
)

// An independent reader finds what the sites sent, and makes the same index.
func TestWarcioReadsArchives(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"warc", "warc.gz"} {
		t.Run(format, func(t *testing.T) {
			bus := startBus(t, false)
			cfg := archiveConfig(testConfig(t))
			cfg.Format = format
			publishPages(t, bus, "a", 0, 150)
			w := start(t, bus, cfg)
			w.catchUp()
			w.end()
			all, err := cfg.ReadCommits()
			check(t, err)
			want := make(map[string]*testPage)
			for n := range 150 {
				p := pageNo("a", n)
				want[p.page.URL] = p
			}
			types := make(map[string]int)
			var files []string
			for _, c := range all {
				files = append(files, filepath.Join(cfg.Out, c.Files[0].Path))
			}
			for i, got := range warcio.Read(t, files...) {
				checkRead(t, got.Records, want, types)
				ours := strings.SplitAfter(strings.TrimSuffix(string(contentOf(t, outputOf(t, cfg), all[i].Files[1])), "\n"), "\n")
				compareIndexes(t, ours, got.Index, format)
			}
			if types["response"]+types["resource"]+types["revisit"] != 150 || types["metadata"] != 150 || types["revisit"] < 10 || types["resource"] < 10 {
				t.Errorf("types of records: %v", types)
			}
		})
	}
}

func checkRead(t *testing.T, records []warcio.Record, want map[string]*testPage, types map[string]int) {
	t.Helper()
	before := make(map[string]warcio.Record) // by URL
	for _, r := range records {
		types[r.Type]++
		p := want[r.URL]
		switch r.Type {
		case warc.TypeResponse, warc.TypeResource:
			sum := sha256.Sum256(p.plain)
			if r.Content != hex.EncodeToString(sum[:]) || r.Type == warc.TypeResponse && r.Status != 200 {
				t.Errorf("%s of %s is read as something else: %+v", r.Type, r.URL, r)
			}
			before[r.URL] = r
		case warc.TypeRevisit:
			if o, ok := before[r.RefersTo]; !ok || o.Payload != r.Payload || o.Date != r.RefersToDate {
				t.Errorf("revisit %+v refers to %+v", r, o)
			}
		}
	}
}

// compareIndexes compares lines with those of warcio.js. That omits the status of a resource, and
// does not count the two line ends after an uncompressed record.
func compareIndexes(t *testing.T, ours, theirs []string, format string) {
	t.Helper()
	type entry struct{ Key, URL, MIME, Status, Digest, Length, Offset, Filename, Method, RequestBody string }
	read := func(lines []string) map[string]entry {
		all := make(map[string]entry)
		for _, l := range lines {
			key, rest, _ := strings.Cut(l, " {")
			e := entry{Key: key}
			check(t, json.Unmarshal([]byte("{"+rest), &e))
			all[e.Offset] = e
		}
		return all
	}
	a, b := read(ours), read(theirs)
	if len(a) != len(b) || len(a) == 0 {
		t.Errorf("%d lines, warcio.js has %d", len(a), len(b))
	}
	for at, e := range a {
		o := b[at]
		if o.Status == "" {
			o.Status = e.Status
		}
		if n, err := strconv.Atoi(o.Length); err == nil && format == "warc" {
			o.Length = strconv.Itoa(n + len("\r\n\r\n"))
		}
		o.MIME, _, _ = strings.Cut(o.MIME, ";")
		if o != e {
			t.Errorf("line\n%+v\nwarcio.js has\n%+v", e, o)
		}
	}
}
