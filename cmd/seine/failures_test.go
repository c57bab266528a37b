package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// failures lists the URLs that failed, of one class or host alone if asked for.
func TestFailures(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	data := filepath.Join(dir, "data")
	if code, _, stderr := seine(t, "crawl", site+"/p/1", site+"/nonsense", "--data", data, "--out", filepath.Join(dir, "out"),
		"--allow-private", "--delay", "0s", "--max-depth", "0", "--quiet"); code != exitOK {
		t.Fatalf("the crawl ends with %d: %s", code, stderr)
	}
	for _, tt := range []struct {
		args []string
		want string // in the output; "" for no URL
	}{
		{nil, "gone   " + site + "/nonsense  404"},
		{[]string{"--class", "gone", "--json"}, `"url":"` + site + `/nonsense"`},
		{[]string{"--class", "timeout"}, ""},
		{[]string{"--host", "other.example"}, ""},
	} {
		out := want(t, exitOK, append([]string{"failures", "--data", data}, tt.args...), tt.want)
		if tt.want == "" && strings.Contains(out, "nonsense") {
			t.Errorf("%v: %s", tt.args, out)
		}
	}
	want(t, exitUsage, []string{"failures", "--data", data, "--class", "sad"}, "unknown class", "such as gone")
	want(t, exitUsage, []string{"failures", "--data", data, "--crawl", "nope"}, "no such crawl")
	want(t, exitUsage, []string{"failures", "--data", data, "--limit=-1"}, "must not be negative")
}
