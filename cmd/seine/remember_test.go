package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/output/bucket"
	"seine/internal/run/config"
)

// crawlWith returns the `seine crawl` that results from flags and what its --data remembers.
func crawlWith(t *testing.T, flags ...string) (*crawlCmd, error) {
	t.Helper()
	var c cli
	parser, err := config.New(&c, "seine", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(append([]string{"crawl"}, flags...))
	return &c.Crawl, err
}

// A password is never stored, and not needed to recognise the destination.
func TestMemoryHasNoPassword(t *testing.T) {
	data := t.TempDir()
	c, err := crawlWith(t, "--data", data, "--out", "postgres://me:secret-word@DB.example/pages?sslmode=require&password=secret-word")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.remember(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(data, memoryFile))
	if err != nil || strings.Contains(string(text), "secret-word") {
		t.Errorf("stored is %s, %v", text, err)
	}
	c, err = crawlWith(t, "--data", data)
	if want := "postgres://me@DB.example/pages?sslmode=require"; err != nil || c.Out != want {
		t.Errorf("without --out it is %s, %v, want %s", c.Out, err, want)
	}
	const again = "postgres://me:other-word@db.example:5432/pages"
	if c, err = crawlWith(t, "--data", data, "--out", again); err != nil || c.Out != again {
		t.Errorf("with another password it is %s, %v", c.Out, err)
	}
	c.LogRequests = again
	if err := c.remember(); err != nil {
		t.Fatal(err)
	}
	if c, err = crawlWith(t, "--data", data, "--out", again); err != nil || c.LogRequests != again {
		t.Errorf("the log of requests in the same database is at %s, %v", c.LogRequests, err)
	}
	_, err = crawlWith(t, "--data", data, "--out", "postgres://me:other-word@db.example/news")
	if err == nil || !strings.Contains(err.Error(), "--out postgres://me@db.example/news instead of") || strings.Contains(err.Error(), "other-word") {
		t.Errorf("another database: %v", err)
	}
}

// Each output flag is remembered; if it is given again it must be the same, even in the
// environment.
func TestEveryFlagOfTheOutputIsRemembered(t *testing.T) {
	team := write(t, "team.txt", "")
	for name, tt := range map[string]struct {
		flags   []string
		other   []string
		refused string
	}{
		"objects":     {[]string{"--format", "objects", "--key", "{crawl}/{id}.json"}, []string{"--key", "{crawl}/{key}.json"}, "--key {crawl}/{key}.json instead of {crawl}/{id}.json"},
		"a default":   {nil, []string{"--format", "parquet"}, "--format parquet instead of jsonl.zst"},
		"path":        {[]string{"--path", "{crawl}/{date}"}, []string{"--path", "{crawl}"}, "--path {crawl} instead of {crawl}/{date}"},
		"recipients":  {[]string{"--encrypt", "@" + team}, []string{"--encrypt", "@other.txt"}, " instead of @" + team},
		"csv":         {[]string{"--format", "csv", "--csv-safe"}, []string{"--csv-safe=false"}, "--csv-safe false instead of true"},
		"bucket":      {[]string{"--out", "s3://abc/d", "--s3-endpoint", "https://s3.example", "--s3-path-style"}, []string{"--s3-endpoint", "https://other.example"}, "--s3-endpoint https://other.example instead of https://s3.example"},
		"archive":     {[]string{"--warc", "w"}, []string{"--warc", "v"}, "--warc v instead of "},
		"two of them": {nil, []string{"--format", "csv", "--out", "elsewhere"}, "; --format csv instead of jsonl.zst"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "recipients" {
				recipient, _ := key(t)
				if err := os.WriteFile(team, []byte(recipient+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			data := []string{"--data", t.TempDir()}
			c, err := crawlWith(t, append(data, tt.flags...)...)
			if err == nil {
				err = c.remember()
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, flags := range [][]string{data, append(data, tt.flags...)} {
				again, err := crawlWith(t, flags...)
				if err != nil || again.Format != c.Format || again.Path != c.Path || again.Key != c.Key || again.CSVSafe != c.CSVSafe || again.S3 != c.S3 {
					t.Errorf("with %v it is %+v, %v, want %+v", flags, again.outputPlace, err, c.outputPlace)
				}
			}
			_, err = crawlWith(t, append(data, tt.other...)...)
			if err == nil || !strings.Contains(err.Error(), tt.refused) || !strings.Contains(err.Error(), "--change-output") {
				t.Errorf("with %v: %v, want %q", tt.other, err, tt.refused)
			}
			if c, err := crawlWith(t, append(data, "--change-output")...); err != nil || c.Format != "" || c.Out != defaultOut() {
				t.Errorf("with --change-output it is %+v, %v", c.outputPlace, err)
			}
		})
	}
}

// Of two crawls that start in a directory at the same time, the second does not use another output
// than the first. If one of them wrote nothing, its end does not make the directory forget the
// other's output.
func TestMemoryOfCrawlsThatStartAtATime(t *testing.T) {
	for name, later := range map[string][]string{"no flag": nil, "another place": {"--out", "b"}, "changing the output": {"--out", "b", "--change-output"}} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			start := func(flags ...string) *crawlCmd {
				c, err := crawlWith(t, append([]string{"--data", data}, flags...)...)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			first, second := start("--out", "a"), start(later...)
			if err := first.remember(); err != nil {
				t.Fatal(err)
			}
			if err := second.remember(); !errors.Is(err, errOtherMemory) {
				t.Errorf("the second crawl: %v, want %v", err, errOtherMemory)
			}
			if err := start().remember(); err != nil {
				t.Fatal(err)
			}
			third := start("--format", "csv", "--change-output")
			if err := errors.Join(third.remember(), first.release()); err != nil {
				t.Fatal(err)
			}
			if c := start(); c.Format != "csv" {
				t.Errorf("the format is %q", c.Format)
			}
			if err := third.release(); err != nil {
				t.Fatal(err)
			}
			if c := start("--out", "c"); !c.first {
				t.Error("another output is refused, though nothing was written")
			}
			if c := start(); c.Format != "csv" {
				t.Errorf("without flags the format is %q, want that of the run that wrote nothing", c.Format)
			}
		})
	}
}

func TestFlagsOfTheEnvironmentCountAsGiven(t *testing.T) {
	data := t.TempDir()
	c, err := crawlWith(t, "--data", data, "--out", "s3://abc/d", "--s3-region", "here")
	if err == nil {
		err = c.remember()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SEINE_S3_REGION", "here")
	if c, err := crawlWith(t, "--data", data); err != nil || c.Out != "s3://abc/d" {
		t.Errorf("the same: %s, %v", c.Out, err)
	}
	t.Setenv("SEINE_FORMAT", "csv")
	if _, err := crawlWith(t, "--data", data); err == nil || !strings.Contains(err.Error(), "--format csv instead of jsonl.zst") {
		t.Errorf("another format: %v", err)
	}
}

// Only one of the two outputs needs to be in S3.
func TestOnlyOneOutputNeedsToBeInS3(t *testing.T) {
	for _, flags := range [][]string{{"--out", "s3://abc/d", "--warc", "w"}, {"--out", "o", "--warc", "s3://abc/d"}} {
		c, err := crawlWith(t, append(flags, "--data", t.TempDir(), "--s3-path-style")...)
		if err != nil {
			t.Errorf("%v: %v", flags, err)
			continue
		}
		o, err := c.options(nil)
		if err != nil {
			t.Errorf("%v: %v", flags, err)
			continue
		}
		for _, w := range []struct {
			out string
			s3  bucket.Options
		}{{o.Writer.Out, o.Writer.S3}, {o.More[0].Out, o.More[0].S3}} {
			if bucket.Is(w.out) != w.s3.PathStyle {
				t.Errorf("%v: of %s the flags are %+v", flags, w.out, w.s3)
			}
		}
	}
}

// A first try that fetched nothing does not bind later ones to its output.
func TestFirstTryWithoutAPageIsNotRemembered(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	data, second := filepath.Join(dir, "data"), filepath.Join(dir, "second")
	first := []string{"crawl", site + "/p/1", "--data", data, "--quiet", "--delay", "0s", "--max-pages", "1"}
	if code, _, stderr := seine(t, append(first, "--out", filepath.Join(dir, "first"))...); code != exitFailed || !strings.Contains(stderr, "--allow-private") {
		t.Fatalf("the first try ends with %d: %s", code, stderr)
	}
	code, stdout, stderr := seine(t, append(first, "--out", second, "--format", "csv", "--allow-private")...)
	if code != exitOK {
		t.Fatalf("the second try ends with %d: %s%s", code, stdout, stderr)
	}
	says(t, "the second", stdout, "1 record in 1 file of "+second)
}

// A crawl that fetches nothing, after one that has written, does not make --data forget the output.
func TestLaterTryWithoutAPageForgetsNothing(t *testing.T) {
	site, dir := shop(t), t.TempDir()
	out := filepath.Join(dir, "out")
	run := func(url string, flags ...string) {
		t.Helper()
		seine(t, append([]string{"crawl", url, "--data", filepath.Join(dir, "data"), "--delay", "0s", "--quiet"}, flags...)...)
	}
	run(site+"/p/1", "--out", out, "--allow-private", "--max-pages", "1")
	run(site+"/p/2", "--crawl", "other") // without --allow-private
	c, err := crawlWith(t, "--data", filepath.Join(dir, "data"))
	if err != nil || c.Out != out {
		t.Errorf("the output is %s, %v, want %s", c.Out, err, out)
	}
}
