package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seine/pkg/stages/writer"
)

// An invalid flag is wrong usage, is explained, and leaves nothing behind.
func TestWrongFlagsAreBadUsage(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	for args, want := range map[string]string{
		"--encrypt-state /nonexist": "--encrypt-state: open /nonexist",
		"--listen 9400":             `--listen "9400": must be HOST:PORT`,
		"--metrics 9400":            `--metrics "9400": must be HOST:PORT`,
		"--format objects.raw":      "seine crawl archives pages with --warc DIR",
		"--warc sqlite:a.db":        "--warc sqlite:a.db: is a database, but an archive consists of files",
		"--max-text 1GiB":           "--max-text 1GiB: must be from 0B to",
		"--delay -1s":               "--delay=-1s",
		"--out " + data:             "is in --data",
		"--out " + data + "/out":    "is in --data",
		"--warc " + data + "/warc":  "--warc " + data + "/warc: is in --data",
	} {
		code, _, stderr := seine(t, append([]string{"crawl", "http://a.test/", "--data", data}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s ends with %d: %s; want %d, and %q", args, code, stderr, exitUsage, want)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("they leave %v, %v", left, err)
	}
}

func TestHealthTakesAnAddress(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	for _, what := range []string{srv.URL + "/readyz", srv.URL, strings.TrimPrefix(srv.URL, "http://")} {
		if code, _, stderr := seine(t, "health", what); code != exitOK {
			t.Errorf("health %s ends with %d: %s", what, code, stderr)
		}
	}
	for _, what := range []string{"ftp://127.0.0.1/", "http://", "127.0.0.1:x"} {
		if code, _, stderr := seine(t, "health", what); code != exitUsage || !strings.Contains(stderr, "must be HOST:PORT") {
			t.Errorf("health %s ends with %d: %s", what, code, stderr)
		}
	}
}

// If --out is not writable, no state is created.
func TestNoStateIsBegunWithoutAnOutput(t *testing.T) {
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), write(t, "file", "")
	code, _, stderr := seine(t, "crawl", "http://a.test/", "--data", data, "--out", filepath.Join(file, "out"))
	if code != exitFailed || !strings.Contains(stderr, "--out "+file) {
		t.Errorf("it ends with %d: %s", code, stderr)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("--data was made")
	}
}

func TestExportOfAKindThatIsNotThereSaysSo(t *testing.T) {
	const want = "exported nothing of 2 commits: no record is of --kind prodcut"
	if got := exportEnd(writer.ExportTotals{Commits: 2, Done: 2}, "there", "prodcut"); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
