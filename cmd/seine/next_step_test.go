package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Messages name the next step: a crawl that does not run is to be started, JSON is read by jq, and help and version are flags.
func TestMessagesNameTheNextStep(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	data := filepath.Join(dir, "data")
	want(t, exitOK, []string{"crawl", site + "/p/1", "--data", data, "--out", filepath.Join(dir, "out"), "--allow-private", "--delay", "0s", "--max-pages", "1", "--quiet"})
	want(t, exitOK, []string{"seed", site + "/p/2", "--data", data}, "1 URL was added to crawl default; run seine crawl --data "+data+" to fetch them")
	want(t, exitOK, []string{"seed", site + "/p/2", "--data", data, "--crawl", "more", "--new"}, "; run seine crawl --data "+data+" --crawl more to fetch them")
	spec := write(t, "spec.yaml", "records: [{kind: item, each: '.items[]', fields: {name: h1}}]\n")
	want(t, exitUsage, []string{"spec", "check", spec}, `for JSON, write {jq: ".items[]"}`)
	want(t, exitUsage, []string{"stop"}, "unexpected argument stop: use Ctrl-C")
	code, _, stderr := seine(t, "explain", site+"/p/1", "--data", data, "--crawl", "nope")
	if code != exitUsage || !strings.Contains(stderr, "no such crawl") {
		t.Errorf("explain of no crawl ends with %d: %s", code, stderr)
	}
}
