package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/pkg/stages/frontier/frontierapi"
)

// With --crawl, the queues of a host are those of that crawl: several crawls may have URLs for it.
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

// A command without --crawl controls the only crawl, and a host is found without its port.
func TestHostOfTheOnlyCrawl(t *testing.T) {
	site, data := shop(t), filepath.Join(t.TempDir(), "data")
	want(t, exitOK, []string{"crawl", site + "/p/1", "--crawl", "shop", "--max-pages", "1", "--data", data, "--out", data + "-out",
		"--allow-private", "--delay", "2s", "--quiet"})
	want(t, exitOK, []string{"pause", "--data", data}, "crawl shop is paused")
	host := strings.TrimPrefix(site, "http://")
	name, _, _ := strings.Cut(host, ":")
	_, text, _ := seine(t, "hosts", name, "--data", data)
	if fields := strings.Fields(strings.SplitAfterN(text, "\n", 2)[1]); fields[0] != host || fields[3] != "2s" {
		t.Errorf("%s", text)
	}
}

// A decision by a person has no time to wait for.
func TestWaitOfHost(t *testing.T) {
	past := time.Now().Add(-time.Hour).UnixMilli()
	for why, text := range map[string]string{"": "-", "parked": "parked", "given_up": "given_up", "delay": "delay, due now"} {
		if got := waitOf(&frontierapi.HostStatus{Why: why, NextMS: past}); got != text {
			t.Errorf("%q: %q, not %q", why, got, text)
		}
	}
}
