package writer

import (
	"testing"
	"time"
)

// Archive files have unique names. A file that is written again keeps its name.
func TestNamesOfArchivesAreUnique(t *testing.T) {
	t.Parallel()
	archive, err := newFileLayout(&OutputConfig{Out: "o", Format: "warc.gz"}, nil)
	check(t, err)
	lines, err := newFileLayout(&OutputConfig{Out: "o", Format: "jsonl.gz"}, nil)
	check(t, err)
	at := time.Date(2026, 11, 23, 1, 2, 3, 4, time.UTC)
	seen := make(map[string]bool)
	for _, crawl := range []string{"a", "b"} {
		for _, created := range []time.Time{at, at.Add(1), at.In(time.FixedZone("", 3600))} {
			seen[archive.ext("warc.gz", crawl, created)] = true
			if got := lines.ext("jsonl.gz", crawl, created); got != "jsonl.gz" {
				t.Errorf("records are in .%s", got)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("two crawls of two streams have the names %v", seen)
	}
}
