package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A dry run uses the stored spec of a crawl, not the default one, and a crawl can be resumed
// without a URL.
func TestDryRunIsOfTheCrawlThatIsThere(t *testing.T) {
	var asked atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<a href="/1">1</a> <a href="/2">2</a>`))
	}))
	t.Cleanup(site.Close)
	t.Chdir(t.TempDir())
	spec := write(t, "spec.yaml", "delay: 0s\nallow_private: true\nexclude: ['/no/*']\nrecords: [{kind: product, fields: {title: h1}}]\n")
	want(t, exitOK, []string{"crawl", site.URL, "--spec", spec, "--max-pages", "1", "--quiet"})
	before := asked.Load()

	for _, urls := range [][]string{nil, {"http://other.example/"}} {
		out := want(t, exitOK, append([]string{"crawl", "--dry-run"}, urls...),
			"would resume with 2 URLs open of 3 known", "that of an earlier seed", "matches none of: /no/*", "product: title")
		if got := strings.Contains(out, "would fetch 1 URL as well"); got != (urls != nil) {
			t.Errorf("with %q it says\n%s", urls, out)
		}
	}
	want(t, exitUsage, []string{"crawl", "--dry-run", "--data", "other"}, "--dry-run needs a URL")
	if n := asked.Load(); n != before {
		t.Errorf("%d requests", n-before)
	}
	want(t, exitOK, []string{"runs"}, "crawl default: 1 run")
	want(t, exitUsage, []string{"delete", "--yes"}, "seine delete --crawl NAME")
	want(t, exitUsage, []string{"delete", "default", "--crawl", "other", "--yes"}, "one crawl at a time")
	want(t, exitOK, []string{"delete", "--crawl", "default", "--yes"})
	want(t, exitOK, []string{"runs"}, "there is no crawl\n")
}

// URLs on both sides of a flag, or without a command, are rejected with a hint how to write them.
func TestURLsApart(t *testing.T) {
	t.Chdir(t.TempDir())
	want(t, exitUsage, []string{"crawl", "http://a.test/", "--quiet", "http://b.test/"}, "unexpected argument http://b.test/: write all URLs side by side")
	for _, args := range [][]string{{"http://a.test/"}, {"HTTPS://a.test/", "--quiet"}, {"http://a.test/", "http://b.test/"}} {
		want(t, exitUsage, args, "unexpected argument "+args[0]+": did you mean seine crawl "+args[0]+"?")
	}
	want(t, exitUsage, []string{"status", "extra"}, "unexpected argument extra (see --help")
}

// Multi-line errors of PostgreSQL's client are printed on one line.
func TestDatabaseThatIsAwayIsToldOnOneLine(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := seine(t, "crawl", "http://a.test/", "--quiet", "--out", "postgres://me@127.0.0.1:1/x")
	if code != exitFailed || strings.Count(stderr, "\n") != 1 || strings.Count(stderr, "connection refused") != 1 {
		t.Errorf("exit code %d, and\n%s", code, stderr)
	}
}

// A server named in the environment is reported, as it replaces the embedded one; a server on the
// command line is not.
func TestServerOfTheEnvironmentIsReported(t *testing.T) {
	const nowhere, notice = "nats://127.0.0.1:1", "seine: this crawl runs at the NATS server nats://127.0.0.1:1, as the environment or the configuration file says, and not in "
	data := t.TempDir()
	if _, _, stderr := seine(t, "crawl", "https://a.example/", "--data", data, "--nats", nowhere); strings.Contains(stderr, notice) {
		t.Errorf("with --nats: %s", stderr)
	}
	t.Chdir(t.TempDir())
	t.Setenv("SEINE_NATS_URL", nowhere)
	_, _, stderr := seine(t, "crawl", "https://a.example/")
	says(t, "with the variable", stderr, notice, "check that nats-server runs there")
}

// A directory or server on the command line takes precedence over the other one in the environment
// or a configuration file.
func TestPlaceOnTheCommandLineTakesPrecedence(t *testing.T) {
	const nowhere = "nats://127.0.0.1:1"
	site, dir := shop(t), t.TempDir()
	data, conf := filepath.Join(dir, "data"), write(t, "conf.yaml", "nats: "+nowhere+"\nnats_user: me\n")
	crawl := []string{"crawl", site + "/p/1", "--data", data, "--out", filepath.Join(dir, "out"), "--allow-private", "--delay", "0s", "--max-pages", "1", "--quiet"}
	inFile := func(args ...string) []string { return append(args, "--config", conf) }
	want(t, exitOK, inFile(crawl...), "seine: nats of the configuration file, nats-user of the configuration file: ignored because of --data")
	want(t, exitOK, inFile("hosts", "--data", data), "ignored because of --data")
	t.Setenv("SEINE_NATS_URL", nowhere)
	t.Setenv("SEINE_NATS_USER", "me")
	const ignored = "seine: SEINE_NATS_URL, SEINE_NATS_USER: ignored because of --data\n"
	want(t, exitOK, crawl, ignored)
	for _, args := range [][]string{{"status", "--every", "100ms"}, {"hosts"}, {"runs"}, {"spec", "list"}, {"explain", site + "/p/1"}} {
		if _, _, stderr := seine(t, append(args, "--data", data)...); stderr != ignored {
			t.Errorf("seine %s writes %q", args, stderr)
		}
	}
	want(t, exitUsage, []string{"status", "--data", data, "--nats", nowhere}, "leave out --nats")
	want(t, exitUsage, []string{"status", "--data", data, "--nats-ca", conf}, "leave out --nats")
	t.Setenv("SEINE_NATS_USER", "")
	want(t, exitFailed, []string{"hosts"}, "connect to NATS at "+nowhere)
	t.Setenv("SEINE_DATA", data)
	want(t, exitFailed, []string{"hosts", "--nats", nowhere}, "seine: SEINE_DATA: ignored because of the --nats flags\n", "connect to NATS at "+nowhere)
}

// A dry run also shows the values of sources, so it shows the pace for each host.
func TestDryRunShowsSources(t *testing.T) {
	t.Chdir(t.TempDir())
	spec := write(t, "spec.yaml", "rate: 30/m\nsources:\n  - {hosts: [slow.example], delay: 10s, headers: {X-Key: '{secret:KEY}'}}\n  - {hosts: ['*.example'], state: paused}\n")
	want(t, exitOK, []string{"crawl", "http://a.example/", "--dry-run", "--spec", spec},
		"at least 1s after the previous response, at most 1/2s", "    - slow.example\n", "    delay: 10s\n", "    state: paused\n")
}
