package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The queues of a host are those of the crawl that is named: several crawls may have work for it.
func TestHostsOfACrawl(t *testing.T) {
	site, data := shop(t), filepath.Join(t.TempDir(), "data")
	for crawl, limit := range map[string]string{"done": "--max-depth", "open": "--max-pages"} {
		want(t, exitOK, []string{"crawl", site + "/p/1", "--crawl", crawl, limit, map[string]string{"done": "0", "open": "1"}[crawl],
			"--data", data, "--out", data + "-out", "--allow-private", "--delay", "0s", "--quiet"})
	}
	for crawl, queued := range map[string]string{"done": "0", "open": "1", "": "1"} {
		_, text, _ := seine(t, "hosts", "--data", data, "--json", "--crawl", crawl)
		if !strings.Contains(text, `"queued":`+queued+`,"in_flight":0`) || strings.Contains(text, `"crawl":"open"`) != (queued == "1") {
			t.Errorf("of crawl %q: %s; want %s queued", crawl, text, queued)
		}
	}
}
