package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that inspect a crawl reject an unknown name, and suggest a similar one.
func TestNamesThatAreNotThereAreRefused(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	data := filepath.Join(dir, "data")
	code, _, stderr := seine(t, "crawl", site+"/p/1", "--crawl", "shirts", "--data", data, "--out", filepath.Join(dir, "out"),
		"--allow-private", "--delay", "0s", "--max-pages", "1", "--quiet")
	if code != exitOK {
		t.Fatalf("the crawl ends with %d: %s", code, stderr)
	}
	u, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	spec := write(t, "spec.yaml", "delay: 1s\nallow_private: true\nmax_pages: 0\nsources: null\n")
	again := filepath.Join(dir, "again")
	warc := filepath.Join(dir, "archive")
	if code, _, stderr := seine(t, "seed", site+"/p/1", "--crawl", "caps", "--new", "--data", data); code != exitOK {
		t.Fatalf("seed ends with %d: %s", code, stderr)
	}
	if code, _, stderr := seine(t, "crawl", "--crawl", "caps", "--data", data, "--allow-private", "--max-pages", "1", "--quiet"); code != exitOK {
		t.Errorf("a crawl that was fed, and has no spec, ends with %d: %s", code, stderr)
	}
	near := strings.Replace(u.Host, "127.", "128.", 1)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"dead", "list", "--crawl", "shirt"}, "did you mean shirts?"},
		{[]string{"dead", "drop", "--all", "--crawl", "shirt"}, "did you mean shirts?"},
		{[]string{"explain", "--crawl", "shirt", "http://nowhere.test/"}, "did you mean shirts?"},
		{[]string{"hosts", "--crawl", "shirt"}, "did you mean shirts?"},
		{[]string{"hosts", near}, "did you mean " + u.Host + "?"},
		{[]string{"crawl", "--crawl", "shirt", "--quiet", "--warc", warc}, "no crawl shirt, did you mean shirts? (there are caps, shirts)"},
		{[]string{"replay", "parse", "--crawl", "shirt", "--out", again}, "did you mean shirts?"},
		{[]string{"replay", "write", "--crawl", "shirt", "--out", again}, "did you mean shirts?"},
		{[]string{"pause", "--crawl", "shirts", "--host", near}, "did you mean " + u.Host + "? (seine hosts lists some) (use --new"},
		{[]string{"cancel", "--crawl", "shirts", "--host", "http://nowhere.test/"}, "host nowhere.test: no crawl has URLs of it"},
		{[]string{"pause", "--crawl", "shirts", "--new"}, "--new: permits an unknown host"},
		{[]string{"spec", "get", "--crawl", "shirt"}, "did you mean shirts?"},
		{[]string{"spec", "get"}, "no such crawl"},
		{[]string{"spec", "diff", spec, "--crawl", "shirt"}, "did you mean shirts? there are caps, shirts (--new starts"},
		{[]string{"spec", "apply", spec, "--crawl", "shirt"}, "did you mean shirts? there are caps, shirts (--new starts"},
		{[]string{"dead", "list", "--since=-1h"}, "--since -1h0m0s: must not be negative"},
		{[]string{"dead", "redrive", "--all", "--since=-1h"}, "--since -1h0m0s: must not be negative"},
		{[]string{"dead", "list", "--limit=-1"}, "--limit -1: must not be negative"},
	} {
		code, stdout, stderr := seine(t, append(c.args, "--data", data)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("seine %s ends with %d: %s%s; want %d, and %q", strings.Join(c.args, " "), code, stdout, stderr, exitUsage, c.want)
		}
	}
	if made, err := filepath.Glob(again + "*"); len(made) > 0 || err != nil {
		t.Errorf("a replay that was refused has made %q, %v", made, err)
	}
	if _, stdout, _ := seine(t, "spec", "list", "--data", data); strings.Contains(stdout, "shirt ") {
		t.Errorf("a crawl that was refused is in the list: %s", stdout)
	}
	if text, err := os.ReadFile(filepath.Join(data, memoryFile)); err != nil || strings.Contains(string(text), "archive") {
		t.Errorf("a crawl that was refused is remembered to be archived: %s, %v", text, err)
	}
	for _, args := range [][]string{{"pause", "--crawl", "shirts", "--host", u.Host}, {"resume", "--crawl", "shirts", "--host", u.Hostname()},
		{"pause", "--crawl", "shirts", "--host", "later.test", "--new"}, {"resume", "--crawl", "shirts", "--host", "later.test"},
		{"cancel", "--crawl", "caps", "--host", u.Hostname()}, {"replay", "write", "--crawl", "shirts", "--out", again}, {"spec", "apply", spec, "--crawl", "shirts"}, {"spec", "apply", spec, "--crawl", "new", "--new"}, {"spec", "get", "--crawl", "new"},
		{"spec", "apply", spec}, {"dead", "list", "--crawl", "shirts"}, {"explain", "--crawl", "shirts", "http://nowhere.test/"}, {"hosts", u.Host}, {"hosts", "--crawl", "shirts"}} {
		if code, stdout, stderr := seine(t, append(args, "--data", data)...); code != exitOK {
			t.Errorf("seine %s ends with %d: %s%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
}

// Without --crawl and a crawl named default, commands read, seed and resume the only crawl.
// Commands that would destroy or control it are rejected, and name it.
func TestOnlyCrawlNeedsNoName(t *testing.T) {
	t.Chdir(t.TempDir())
	site := shop(t)
	flags := []string{"--allow-private", "--delay", "0s", "--max-depth", "0", "--quiet"}
	want(t, exitOK, append([]string{"crawl", site + "/p/1", "--crawl", "beta"}, flags...))
	const only = "seine: there is no crawl default: using crawl beta, the only one\n"
	want(t, exitOK, []string{"explain", site + "/p/1"}, only, "/p/1")
	want(t, exitOK, []string{"failures"}, only, "crawl beta has no failed URLs")
	want(t, exitOK, []string{"spec", "get"}, only, "max_depth: 0")
	want(t, exitFailed, []string{"spec", "diff", write(t, "spec.yaml", "max_depth: 0\n")}, only, "allow_private")
	want(t, exitOK, []string{"seed", site + "/secret"}, only, "1 URL was added to crawl beta; run seine crawl --data ./seine-data --crawl beta to fetch them")
	want(t, exitOK, []string{"crawl", "--dry-run"}, only, "crawl beta, with its state in ./seine-data", "would resume with 1 URL open of ")
	want(t, exitOK, []string{"crawl", "--quiet"}, "resuming the only one", "crawl=beta", "beta: ")
	for _, verb := range []string{"pause", "cancel", "resume"} {
		want(t, exitOK, []string{verb}, only, "crawl beta is "+verb)
	}
	for _, args := range [][]string{{"delete"}, {"explain", site, "--crawl", "default"}, {"seed", site, "--crawl", "default"},
		{"spec", "get", "--crawl", "default"}} {
		want(t, exitUsage, args, "there is beta")
	}
	want(t, exitUsage, []string{"crawl", "--crawl", "default"}, "for the only crawl, add --crawl beta")
	want(t, exitOK, []string{"seed", site + "/p/1", "--crawl", "gamma", "--new"})
	for _, args := range [][]string{{"delete"}, {"cancel"}, {"explain", site}, {"failures"}, {"seed", site}, {"spec", "get"}, {"crawl"}} {
		want(t, exitUsage, args, "there are beta, gamma")
	}
	want(t, exitOK, []string{"explain", site + "/secret"}, "seine: using crawl beta\n", "/secret")
	want(t, exitFailed, []string{"crawl", site + "/none", "--crawl", "beta", "--quiet"}, "no page could be fetched: "+site+"/none: failed: gone: 404 Not Found")
	want(t, exitOK, []string{"seed", site + "/p/1", "--new"}, "1 URL was added to crawl default")
	want(t, exitOK, []string{"failures"}, "seine: using crawl beta\n", "/none")
	if _, _, stderr := seine(t, "explain", site+"/p/1"); stderr != "" {
		t.Errorf("of the default crawl it says %s", stderr)
	}
}

// A dead letter given by number must be selected by the flags too.
func TestDeadLettersAreNamedWithinTheFlags(t *testing.T) {
	url := hostileCluster(t) // with dead letters 1 to 3, of crawl c and the frontier
	for _, flags := range [][]string{{"--crawl", "other"}, {"--stage", "parser"}, {"--reason", "else"}, {"--host", "a.test"}} {
		args := append([]string{"dead", "drop", "1", "--nats", url}, flags...)
		if code, stdout, stderr := seine(t, args...); code != exitUsage || !strings.Contains(stderr, "dead letter 1 (frontier, crawl c)") {
			t.Errorf("seine %s ends with %d: %s%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
	if code, stdout, stderr := seine(t, "dead", "drop", "1", "--crawl", "c", "--stage", "frontier", "--nats", url); code != exitOK {
		t.Errorf("one that they choose: %d: %s%s", code, stdout, stderr)
	}
}

// Removing all dead letters needs a confirmation, like the deletion of a crawl.
func TestDeadDrop_AllWithoutTerminal_NeedsYes(t *testing.T) {
	url := hostileCluster(t) // with dead letters 1 to 3
	for _, flags := range [][]string{nil, {"--crawl", "c"}, {"--reason", "e"}} {
		args := append([]string{"dead", "drop", "--all", "--nats", url}, flags...)
		if code, stdout, stderr := seine(t, args...); code != exitUsage || !strings.Contains(stderr, "add --yes") || stdout != "" {
			t.Errorf("seine %s ends with %d: %s%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
	if code, stdout, stderr := seine(t, "dead", "drop", "--all", "--yes", "--nats", url); code != exitOK || !strings.Contains(stdout, "3 dead letters were removed") {
		t.Errorf("with --yes: %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := seine(t, "dead", "drop", "--all", "--nats", url); code != exitOK || !strings.Contains(stdout, "0 dead letters were removed") {
		t.Errorf("with nothing to remove: %d: %s%s", code, stdout, stderr)
	}
}

// For an output in a database, the table is printed instead of files.
func TestExplainNamesTheTableOfARecord(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	data, out := filepath.Join(dir, "data"), "sqlite:"+filepath.Join(dir, "a.db")
	code, _, stderr := seine(t, "crawl", site+"/p/1", "--data", data, "--out", out, "--allow-private", "--delay", "0s", "--max-pages", "1", "--quiet")
	if code != exitOK {
		t.Fatalf("the crawl ends with %d: %s", code, stderr)
	}
	_, stdout, stderr := seine(t, "explain", site+"/p/1", "--data", data, "--out", out)
	says(t, "explain", stdout, "table       pages")
	if strings.Contains(stdout, "file ") {
		t.Errorf("it names a file: %s%s", stdout, stderr)
	}
}
