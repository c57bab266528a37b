package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestSpecCheck(t *testing.T) {
	good := spec(t, "false")
	code, out, _ := seine(t, "spec", "check", good)
	if code != exitOK {
		t.Errorf("exit code %d", code)
	}
	says(t, "check", out, good+": ok", "record    product: title, price, sku, offers, day", "record    list: ")
	if code, out, _ := seine(t, "spec", "check", "--quiet", good); code != exitOK || out != "" {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestSpecCheckTellsAll(t *testing.T) {
	good, bad := spec(t, "false"), write(t, "bad.yaml", "scope: hosts\nrecords:\n  - kind: a\n    fields: {x: {css: '['}}\ndelai: 1s\n")
	code, out, stderr := seine(t, "spec", "check", bad, good, bad+"x")
	if code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	says(t, "standard error", stderr, bad+`:1:8: scope: "hosts": did you mean host? It must be one of host, domain, any`, bad+":4:23: records[0].fields.x.css: ",
		bad+":5:1: delai: unknown key: did you mean delay?", bad+"x: no such file")
	says(t, "standard output", out, good+": ok")
}

// The author of a spec sees where secrets are sent.
func TestSpecCheckTellsWhereSecretsGo(t *testing.T) {
	name := write(t, "secrets.yaml", `
sources:
  - hosts: [api.example, "http://10.1.2.3:8080"]
    auth: {bearer: "{secret:TOKEN}"}
    headers: {X-Key: "{secret:KEY}"}
  - hosts: [open.example]
    headers: {X-Open: a}
requests:
  - match: "https://b.example/search?*"
    query: {key: "{secret:KEY}"}
  - match: "https://c.example/*"
    query: {key: open}
render:
  mode: always
  login: {url: "https://d.example/login?to=/", script: "f(secrets)", secrets: {word: "{secret:KEY}"}}
`)
	code, out, stderr := seine(t, "spec", "check", name)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	says(t, "check", out, "secrets   auth, X-Key: only to https://api.example, http://10.1.2.3:8080 (without TLS)",
		"secrets   rule for https://b.example/search?*: only to https://b.example", "secrets   login: only to https://d.example")
	if strings.Contains(out, "open.example") || strings.Contains(out, "c.example") {
		t.Errorf("hosts without secrets are told: %s", out)
	}
}

// spec check says that a crawl continues by itself, and the status of a running one says when.
func TestWhenACrawlGoesOnIsTold(t *testing.T) {
	file := write(t, "spec.yaml", "allow_private: true\ndelay: 0s\nmax_pages: 1\nschedule: '@yearly'\nrecrawl: [{match: '*/p/*', every: 1d}, {match: '*', min: 1h, max: 7d}]\n")
	code, out, stderr := seine(t, "spec", "check", file)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	says(t, "check", out, "again     @yearly", "again     */p/* every 24h0m0s: a crawl with such a rule does not end by itself", "* every 1h0m0s to 168h0m0s, as often as it changes")
	site, data := shop(t), filepath.Join(t.TempDir(), "data")
	seine(t, "crawl", site+"/p/1", "--spec", file, "--data", data, "--out", filepath.Join(t.TempDir(), "out"), "--quiet")
	_, out, stderr = seine(t, "status", "--data", data)
	if want := fmt.Sprintf("next run  %d-01-01", time.Now().UTC().Year()+1); !strings.Contains(out, want) {
		t.Errorf("status does not say %q: %s%s", want, out, stderr)
	}
}

// Secrets that are known here are checked as the fetchers do.
func TestSpecCheckWarnsOfPlainSecrets(t *testing.T) {
	t.Setenv("SEINE_SECRET_PLAIN", "password")
	t.Setenv("SEINE_SECRET_GOOD", "pa55w0rd")
	file := write(t, "spec.yaml", "requests:\n- match: https://a.example/*\n  query: {p: '{secret:PLAIN}', g: '{secret:GOOD}', u: '{secret:UNKNOWN}'}\n")
	code, out, _ := seine(t, "spec", "check", file)
	if code != exitOK || strings.Count(out, "warning") != 1 {
		t.Errorf("exit code %d: %s", code, out)
	}
	says(t, "check", out, "warning   secret PLAIN is too short or too common")
}

func TestSpecSchema(t *testing.T) {
	code, out, _ := seine(t, "spec", "schema")
	var schema struct {
		Schema string `json:"$schema"`
	}
	if err := json.Unmarshal([]byte(out), &schema); err != nil || code != exitOK {
		t.Fatalf("exit code %d: %v", code, err)
	}
	if schema.Schema != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("it is a schema of %s", schema.Schema)
	}
}

func TestCrawlTellsWhatIsWrongWithItsSpec(t *testing.T) {
	bad := write(t, "bad.yaml", "records:\n  - kind: a\n    fields:\n      x: {css: h1, ass: number}\n")
	for _, args := range [][]string{
		{"crawl", "http://a.example/", "--spec", bad}, {"crawl", "http://a.example/", "--spec", bad, "--dry-run"},
		{"extract", "http://a.example/", "--spec", bad},
	} {
		code, _, stderr := seine(t, args...)
		if code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
		says(t, "standard error", stderr, bad+":4:20: records[0].fields.x.ass: unknown key")
	}
}

// A file without a setting that a flag of seine crawl has made removes it only explicitly:
// otherwise an archive would lack headers, and hosts would be excluded.
func TestSpecApplyKeepsWhatFlagsHaveSet(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	data := filepath.Join(dir, "data")
	code, _, stderr := seine(t, "crawl", site+"/p/1", "--data", data, "--out", filepath.Join(dir, "out"), "--warc", filepath.Join(dir, "warc"),
		"--allow-private", "--delay", "0s", "--max-pages", "1", "--quiet")
	if code != exitOK {
		t.Fatalf("the crawl ends with %d: %s", code, stderr)
	}
	apply := func(text string) (int, string) {
		code, stdout, stderr := seine(t, "spec", "apply", write(t, "spec.yaml", text), "--data", data)
		return code, stdout + stderr
	}
	code, says := apply("delay: 2s\n")
	const want = "lacks keys that crawl default has: allow_private: true, archive: true, max_pages: 1: add them to keep them (seine spec get prints all), or KEY: null to remove one\n"
	if code != exitUsage || !strings.Contains(says, want) {
		t.Errorf("it ends with %d: %s; want %q", code, says, want)
	}
	code, says = apply("delay: 2s\narchive: true\nallow_private: false\nmax_pages: null\n")
	for _, want := range []string{"as revision 2", "- allow_private: true", `+ delay: "2s"`, "- max_pages: 1"} {
		if code != exitOK || !strings.Contains(says, want) {
			t.Errorf("it ends with %d: %s; want %q", code, says, want)
		}
	}
	if code, says = apply("&a {delay: 2s, archive: true}\n"); code != exitOK || !strings.Contains(says, "already") {
		t.Errorf("the same ends with %d: %s", code, says)
	}
}

// A spec can come from a pipe, as in --spec <(command), which can be read only once.
func TestSpecFromAPipe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names a pipe by /dev/fd")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, _ = w.WriteString("seeds: [http://a.test/start]\n")
	_ = w.Close()
	code, out, _ := seine(t, "crawl", "--spec", fmt.Sprintf("/dev/fd/%d", r.Fd()), "--dry-run", "--data", t.TempDir(), "--out", t.TempDir())
	if code != exitOK || !strings.Contains(out, "http://a.test/start") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
