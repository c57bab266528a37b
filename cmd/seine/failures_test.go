package main

import (
	"path/filepath"
	"testing"
)

// failures lists the failed URLs, optionally of only one class or host.
func TestFailures(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	data := filepath.Join(dir, "data")
	if code, _, stderr := seine(t, "crawl", site+"/p/1", site+"/nonsense", "--data", data, "--out", filepath.Join(dir, "out"),
		"--allow-private", "--delay", "0s", "--max-depth", "0", "--quiet"); code != exitOK {
		t.Fatalf("the crawl ends with %d: %s", code, stderr)
	}
	if code, _, stderr := seine(t, "crawl", site+"/p/1", "--crawl", "whole", "--data", data, "--allow-private", "--delay", "0s", "--max-depth", "0", "--quiet"); code != exitOK {
		t.Fatalf("the crawl ends with %d: %s", code, stderr)
	}
	for _, tt := range []struct {
		args []string
		want string // part of the output
		none bool
	}{
		{nil, "gone   " + site + "/nonsense  404", false},
		{[]string{"--class", "gone", "--json"}, `"url":"` + site + `/nonsense"`, false},
		{[]string{"--class", "timeout"}, "crawl default has no failed URLs that match", true},
		{[]string{"--host", "other.example"}, "crawl default has no failed URLs that match", true},
		{[]string{"--crawl", "whole"}, "crawl whole has no failed URLs\n", true},
		{[]string{"--host", "other.example", "--json"}, "", true},
	} {
		out := want(t, exitOK, append([]string{"failures", "--data", data}, tt.args...), tt.want)
		if tt.none && out != "" {
			t.Errorf("%v: %s", tt.args, out)
		}
	}
	want(t, exitUsage, []string{"failures", "--data", data, "--class", "sad"}, "unknown class", "such as gone")
	want(t, exitUsage, []string{"failures", "--data", data, "--crawl", "nope"}, "no such crawl")
	want(t, exitUsage, []string{"failures", "--data", data, "--limit=-1"}, "must not be negative")
}
