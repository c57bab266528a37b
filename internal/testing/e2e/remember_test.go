package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/internal/output"
	"seine/internal/testing/testweb"
)

// A crawl that is resumed with only --data, from another folder, writes to the same places and in
// the same formats, including its archive. Another output needs an explicit flag.
func TestResumedCrawlWritesOnAsItBegan(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 40})
	home, elsewhere := t.TempDir(), t.TempDir()
	data := filepath.Join(home, "data")
	begun := seine(t, home, "crawl", site.seed, "--data", "data", "--out", "out", "--format", "csv", "--path", "all/{crawl}/{kind}",
		"--warc", "warc", "--warc-format", "warc.zst", "--allow-private", "--delay", "0s", "--per-host", "4", "--quiet", "--max-pages", "10")
	begun.expect(0)

	dry := seine(t, elsewhere, "crawl", site.seed, "--data", data, "--allow-private", "--dry-run")
	dry.expect(0)
	for _, part := range []string{"records as csv", filepath.Join(home, "out"), "pages as warc.zst", filepath.Join(home, "warc")} {
		if !strings.Contains(dry.stdout.String(), part) {
			t.Errorf("--dry-run does not say %q, but: %s", part, dry.said())
		}
	}
	for _, tt := range []struct{ args, want []string }{
		{[]string{"--format", "jsonl"}, []string{"--format jsonl instead of csv", "--change-output"}},
		{[]string{"--out", "seine-out"}, []string{"--out seine-out instead of " + filepath.Join(home, "out")}},
		{[]string{"--warc-format", "warc.gz"}, []string{"--warc-format warc.gz instead of warc.zst"}},
		{[]string{"--csv-safe"}, []string{"--csv-safe true instead of false"}},
	} {
		refused := seine(t, elsewhere, append([]string{"crawl", "--data", data, "--max-pages", "0"}, tt.args...)...)
		refused.expect(2)
		refused.complains(tt.want...)
	}
	resumed := seine(t, elsewhere, "crawl", "--data", data, "--max-pages", "0", "--quiet", "--format", "csv", "--json")
	resumed.expect(0)
	s := resumed.summary()
	if s.Out != filepath.Join(home, "out") || len(s.Archives) != 1 || s.Archives[0].Out != filepath.Join(home, "warc") || s.Archives[0].Pages != s.Pages || s.Records != s.Pages {
		t.Errorf("%d pages: %d records in %s, archives %+v", s.Pages, s.Records, s.Out, s.Archives)
	}
	for _, f := range s.Files {
		if !strings.HasPrefix(f.Path, "all/default/page/") || !strings.HasSuffix(f.Path, ".csv") {
			t.Errorf("a file is %s", f.Path)
		}
	}
	wantEmpty(t, elsewhere)
	status := seine(t, elsewhere, "status", "--data", data, "--every", "100ms")
	status.expect(0)
	for _, part := range []string{"writer default: csv in " + filepath.Join(home, "out"), "writer archive: warc.zst in " + filepath.Join(home, "warc")} {
		if !strings.Contains(status.stdout.String(), part) {
			t.Errorf("seine status does not say %q, but: %s", part, status.said())
		}
	}

	changed := seine(t, elsewhere, "crawl", "--data", data, "--quiet", "--json", "--out", "new", "--change-output")
	changed.expect(0)
	if s := changed.summary(); s.Out != "new" || len(s.Archives) != 0 {
		t.Errorf("with --change-output it writes to %s, archives %+v", s.Out, s.Archives)
	}
	wantPages(t, records(t, filepath.Join(elsewhere, "new"), "default"), site.pages)
	again := seine(t, home, "crawl", "--data", data, "--quiet", "--json")
	again.expect(0)
	if s := again.summary(); s.Records != int64(len(site.pages)) || filepath.Base(s.Out) != "new" {
		t.Errorf("after --change-output it has %d records in %s", s.Records, s.Out)
	}
}

// A state directory without remembered settings resumes with the flags, and has remembered settings
// from then on.
func TestCrawlWithoutAMemoryGoesOnByItsFlags(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 10})
	p := newWorkspace(t)
	p.crawl(site.seed, "--format", "csv", "--max-pages", "3").expect(0)
	if err := os.Remove(filepath.Join(p.data, "output.json")); err != nil {
		t.Fatal(err)
	}
	p.crawl("--format", "csv", "--max-pages", "5").expect(0)
	c := seine(t, "", "crawl", "--data", p.data, "--quiet", "--json", "--max-pages", "0")
	c.expect(0)
	if s := c.summary(); s.Out != p.out || s.Records != s.Pages || slices.ContainsFunc(s.Files, func(f output.File) bool { return !strings.HasSuffix(f.Path, ".csv") }) {
		t.Errorf("%d of %d records in %s: %v", s.Records, s.Pages, s.Out, s.Files)
	}
}

// State and output may be moved together. A missing output is not silently re-created.
func TestStateAndOutputCanBeMovedTogether(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 10})
	home := t.TempDir()
	seine(t, home, "crawl", site.seed, "--allow-private", "--delay", "0s", "--quiet", "--max-pages", "3").expect(0)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(home, moved); err != nil {
		t.Fatal(err)
	}
	seine(t, moved, "crawl", "--quiet", "--max-pages", "0").expect(0)
	out := filepath.Join(moved, "seine-out")
	wantPages(t, records(t, out, "default"), site.pages)
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	gone := seine(t, moved, "crawl", "--quiet")
	gone.expect(1)
	gone.complains("emptied or not mounted", "--change-output")
	seine(t, moved, "crawl", "--quiet", "--change-output").expect(0)
	wantPages(t, records(t, out, "default"), site.pages)
}

// Of two crawls that start at the same time with the same three destinations, one gets them all and
// ends normally.
func TestOneOfTwoCrawlsHasAllPlaces(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 20})
	p := newWorkspace(t)
	places := []string{site.seed, "--warc", p.out + "-warc", "--log-requests", p.out + "-requests"}
	for range 3 {
		var all []*command
		for range 2 {
			all = append(all, workspace{t, filepath.Join(t.TempDir(), "data"), p.out}.crawl(places...))
		}
		won := 0
		for _, c := range all {
			<-c.gone
			if c.code() == 0 {
				won++
				continue
			}
			c.complains("another crawl is writing there")
		}
		if won == 0 {
			t.Fatal("each has a place that the other needs")
		}
	}
}

// Two crawls can use an output directory one after the other, but not at the same time: the second
// reports this, and works after the first has ended.
func TestTwoCrawlsOnOneOutputSaySo(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 20})
	g := newGate(t, web, "/gate")
	held := strings.TrimSuffix(site.seed, "/") + "/gate"
	p := newWorkspace(t)
	first := p.crawl(site.seed, held)
	g.wait(t)
	eventually(t, patience, "be in its directory", func() (bool, string) {
		_, err := os.Stat(filepath.Join(p.out, "_commits", "default", "part-000.owner"))
		return err == nil, first.said()
	})
	other := workspace{t, filepath.Join(t.TempDir(), "data"), p.out}
	second := other.crawl(site.seed)
	second.expect(1)
	second.complains("another crawl is writing there", p.out, "name another directory")
	g.open()
	first.expect(0)
	second = other.crawl(site.seed)
	second.expect(0)
	if s := second.summary(); s.Records != int64(len(site.pages)) {
		t.Errorf("the second has %d records of %d pages", s.Records, len(site.pages))
	}
	if n := len(records(t, p.out, "default")); n != 2*len(site.pages)+1 {
		t.Errorf("both have %d records of %d pages and one more", n, len(site.pages))
	}
	seine(t, "", "verify", p.out).expect(0)
}

// A crawl that has parsed pages warns when its flags change the fields of records, and only then.
func TestChangedFieldsAreReported(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 5})
	dir := t.TempDir()
	for _, tt := range []struct {
		flags  []string
		reason string
	}{
		{[]string{"--fields", "url"}, ""},
		{[]string{"--fields", "url"}, ""},
		{[]string{"--max-pages", "100"}, ""},
		{[]string{"--fields", "url,title"}, "seine replay parse"},
	} {
		run := seine(t, dir, append([]string{"crawl", site.seed, "--allow-private", "--delay", "0s", "--quiet"}, tt.flags...)...)
		run.expect(0)
		if warns := strings.Contains(run.stderr.String(), "rules for records have changed"); warns != (tt.reason != "") || !strings.Contains(run.stderr.String(), tt.reason) {
			t.Errorf("%v: %s", tt.flags, run.said())
		}
	}
}
