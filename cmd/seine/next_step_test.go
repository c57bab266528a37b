package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Messages name the next step: run a crawl that is not running, read JSON with jq, use help and
// version as flags.
func TestMessagesNameTheNextStep(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	data := filepath.Join(dir, "data")
	want(t, exitOK, []string{"crawl", site + "/p/1", "--data", data, "--out", filepath.Join(dir, "out"), "--allow-private", "--delay", "0s", "--max-pages", "1", "--quiet"})
	want(t, exitOK, []string{"seed", site + "/p/2", "--data", data}, "1 URL was added to crawl default; run seine crawl --data "+data+" to fetch them")
	want(t, exitOK, []string{"seed", site + "/p/2", "--data", data, "--crawl", "more", "--new"}, "; run seine crawl --data "+data+" --crawl more to fetch them")
	want(t, exitOK, []string{"pause", "--data", data})
	want(t, exitOK, []string{"resume", "--data", data}, "crawl default is resumed", "; run seine crawl --data "+data+" to continue it\n")
	want(t, exitOK, []string{"resume", "--data", data, "--crawl", "more"}, "; run seine crawl --data "+data+" --crawl more to continue it\n")
	spec := write(t, "spec.yaml", "records: [{kind: item, each: '.items[]', fields: {name: h1}}]\n")
	want(t, exitUsage, []string{"spec", "check", spec}, `for JSON, write {jq: ".items[]"}`)
	const down = "connection refused: check that the host is up, and its port"
	once := write(t, "once.yaml", "{seeds: ['http://127.0.0.1:1/'], allow_private: true, delay: 0s, max_attempts: 1}\n")
	want(t, exitFailed, []string{"crawl", "--spec", once, "--data", filepath.Join(dir, "down"), "--out", filepath.Join(dir, "out"), "--quiet"}, down)
	want(t, exitFailed, []string{"extract", "http://127.0.0.1:1/", "--allow-private"}, "connection refused (check that the host is up, and its port)")
	want(t, exitFailed, []string{"crawl", "--spec", once, "--data", filepath.Join(dir, "more"), "--out", "sqlite:" + filepath.Join(dir, "none", "a.db")}, "the directory of the file must exist")
	want(t, exitUsage, []string{"crawl", site, "--render"}, "--render: needs a value: Render pages in a browser before parsing: never, auto ")
	for _, command := range []string{"cat", "verify", "manifest"} {
		want(t, exitUsage, []string{command, filepath.Join(dir, "none")}, "no such file or directory: name the --out of a crawl, by default ./seine-out")
	}
	want(t, exitUsage, []string{"stop"}, "unexpected argument stop: use Ctrl-C")
	code, _, stderr := seine(t, "explain", site+"/p/1", "--data", data, "--crawl", "nope")
	if code != exitUsage || !strings.Contains(stderr, "no such crawl") {
		t.Errorf("explain of no crawl ends with %d: %s", code, stderr)
	}
}
