package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/internal/base/humanize"
)

// If cat prints nothing, or less than expected, standard error says why.
func TestCatSaysWhatIsMissing(t *testing.T) {
	out := committed(t)
	want(t, exitOK, []string{"cat", t.TempDir()}, "no records yet", "--chunk-age")
	want(t, exitOK, []string{"cat", out, "--run", "5"}, "no records of run 5; see seine runs")
	if got := want(t, exitUsage, []string{"cat", out, "--kind", "none"}, ""); got != "" {
		t.Errorf("of no kind: %s", got)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"cat", other}, {"cat", other, "--latest"}, {"export", other, "--single", filepath.Join(t.TempDir(), "a.csv")}} {
		want(t, exitUsage, args, other+": is not an output, and has no file of records: name the --out of a crawl")
	}
	gone := filepath.Join(out, "c", "page", "part-000-20261121T010203Z-000000000001.jsonl.gz")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if got := want(t, exitFailed, []string{"cat", out}, "no such file"); got != "{\"n\":11}\n{\"n\":12}\n" {
		t.Errorf("of files of which one was removed: %q", got)
	}
}

// Removed pages are reported only if the spec requests it: otherwise cat says so once there have
// been several runs.
func TestCatSaysThatRemovedPagesAreNotReported(t *testing.T) {
	const note = "the spec lacks gone: record"
	page := func(run, kind string) string {
		return `{"url":"https://a.test/","kind":"` + kind + `","crawl":"c","run":` + run + `,"fetched_at":"2026-11-2` + run + `T00:00:00Z"}` + "\n"
	}
	for name, c := range map[string]struct {
		lines string
		noted bool
	}{
		"one run":          {page("0", "page") + page("0", "page"), false},
		"two runs":         {page("0", "page") + page("1", "page"), true},
		"gone is reported": {page("0", "page") + page("1", "gone"), false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(c.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"--latest", "--changes"} {
			_, _, stderr := seine(t, "cat", dir, flag)
			if got := strings.Contains(stderr, note); got != c.noted {
				t.Errorf("%s %s: %q", name, flag, stderr)
			}
		}
	}
}

// A new crawl that writes beside the records of an earlier one of its name warns about it.
func TestCrawlWarnsOfRecordsOfAnEarlierCrawl(t *testing.T) {
	out := committed(t)
	for name, noted := range map[string]bool{"c": true, "other": false} {
		_, _, stderr := seine(t, "crawl", "http://127.0.0.1:1/", "--allow-private", "--delay", "0s", "--crawl", name, "--out", out, "--data", filepath.Join(t.TempDir(), "data"), "--quiet")
		if got := strings.Contains(stderr, "has records of an earlier crawl"); got != noted {
			t.Errorf("%s: %q", name, stderr)
		}
	}
}

// An output may have files of several crawls. The missing files of a deleted crawl do not hide the
// others, nor those that it has written since it began again, with the same state or another.
func TestReadersAfterADeletion(t *testing.T) {
	site, out, data := shop(t), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "data")
	crawl := func(name, page, data string) {
		t.Helper()
		want(t, exitOK, []string{"crawl", site + "/p/1?page=" + page, "--crawl", name, "--data", data, "--out", out, "--allow-private", "--delay", "0s", "--max-depth", "0", "--quiet"})
	}
	readers := func(pages ...string) {
		t.Helper()
		to := filepath.Join(t.TempDir(), "to")
		for _, args := range [][]string{
			{"cat", out}, {"cat", out, "--latest"}, {"export", out, "--single", to + ".jsonl"},
			{"export", out, "--to", to}, {"export", out, "--to", to + "csv", "--format", "csv"}, {"export", out, "--to", to + "objects", "--format", "objects"},
		} {
			got := want(t, exitOK, args, "files that are missing, as after a deletion, are left out")
			if args[0] == "export" {
				got = want(t, exitOK, []string{"cat", args[3]})
			}
			if strings.Count(got, `"url"`) != len(pages) {
				t.Errorf("%v: %s; want the pages %v", args, got, pages)
			}
			for _, page := range pages {
				if !strings.Contains(got, "?page="+page+`"`) {
					t.Errorf("%v lacks page %s: %s", args, page, got)
				}
			}
		}
		want(t, exitOK, []string{"compact", out})
	}
	verified := func(pages int, flags ...string) {
		t.Helper()
		want(t, exitOK, append([]string{"verify", out}, flags...), humanize.Plural(pages, "record"), "without the missing files of deleted crawls (", "all as committed")
	}
	crawl("a", "1", data)
	crawl("b", "2", data)
	if err := os.RemoveAll(filepath.Join(out, "a")); err != nil {
		t.Fatal(err)
	}
	readers("2")
	want(t, exitFailed, []string{"cat", out, "--crawl", "a"}, "no such file")
	want(t, exitFailed, []string{"export", out, "--crawl", "a", "--to", filepath.Join(t.TempDir(), "a")}, "no such file")
	crawl("a", "3", filepath.Join(t.TempDir(), "data"))
	readers("2", "3")
	want(t, exitFailed, []string{"verify", out}, "add --deleted a once")
	verified(2, "--deleted", "a")
	verified(2)
	want(t, exitOK, []string{"delete", "a", "--yes", "--data", data}, "deleted")
	begun := want(t, exitOK, []string{"crawl", site + "/p/1?page=4", "--crawl", "a", "--data", data, "--out", out, "--allow-private", "--delay", "0s", "--max-depth", "0", "--quiet", "--json"})
	if strings.Count(begun, `"path"`) != 1 || !strings.Contains(begun, `"records":1,`) {
		t.Errorf("the summary lists what the deleted crawl has written: %s", begun)
	}
	crawl("a", "5", data)
	readers("2", "3", "4", "5")
	verified(4)
	want(t, exitOK, []string{"delete", "b", "--yes", "--data", data}, "deleted")
	if err := os.RemoveAll(filepath.Join(out, "b")); err != nil {
		t.Fatal(err)
	}
	readers("3", "4", "5")
	verified(3)
	crawl("a", "6", data)
	files, err := filepath.Glob(filepath.Join(out, "a", "*.zst"))
	if err != nil || len(files) != 3 {
		t.Fatalf("there are the files %v, %v", files, err)
	}
	slices.Sort(files) // the last one is from the other --data
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	want(t, exitFailed, []string{"cat", out}, "no such file", "if you deleted the output of crawl a, run seine verify --deleted a once")
	if _, text, _ := seine(t, "verify", out); !strings.Contains(text, "missing") {
		t.Errorf("a lost file is not reported: %s", text)
	}
}

// A flag makes verify ignore files that are missing because their crawl was deleted. verify
// suggests the flag if a crawl has no files left, and remembers it.
func TestVerifyAfterADeletion(t *testing.T) {
	const hint = "add --deleted c once to ignore its missing files"
	out := committed(t)
	if err := os.Remove(filepath.Join(out, "c", "page", "part-000-20261121T010203Z-000000000001.jsonl.gz")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := seine(t, "verify", out); code != exitFailed || strings.Contains(stderr, hint) {
		t.Errorf("of files of which one was removed: %d, %s", code, stderr)
	}
	if err := os.RemoveAll(filepath.Join(out, "c")); err != nil {
		t.Fatal(err)
	}
	want(t, exitFailed, []string{"verify", out}, hint)
	want(t, exitFailed, []string{"verify", out, "--deleted", "b"}, hint)
	want(t, exitOK, []string{"verify", out, "--deleted", "b", "--deleted", "c"}, "0 files", "deleted crawls (2 c)", "all as committed")
	want(t, exitOK, []string{"verify", out}, "all as committed")

	site, db := shop(t), filepath.Join(t.TempDir(), "a.db")
	for _, crawl := range []string{"a", "b"} {
		want(t, exitOK, []string{"crawl", site + "/p/1", "--crawl", crawl, "--data", filepath.Join(t.TempDir(), "data"), "--out", "sqlite:" + db, "--allow-private", "--delay", "0s", "--max-pages", "1", "--quiet"})
	}
	d, err := sql.Open("sqlite", db)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"pages", "records", "events"} {
		if _, err := d.ExecContext(t.Context(), "DELETE FROM "+table+" WHERE crawl = 'a'"); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, exitFailed, []string{"verify", "sqlite:" + db}, "1 of its 1 records have no event", "add --deleted and its name")
	want(t, exitFailed, []string{"verify", "sqlite:" + db, "--deleted", "b"}, "1 wrong")
	want(t, exitOK, []string{"verify", "sqlite:" + db, "--deleted", "a"}, "all as committed")
}
