package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/internal/base/jsontext"
)

// latest returns the paths of the pages in the current output.
func latest(t *testing.T, seed, out string, flags ...string) (paths []string) {
	t.Helper()
	c := seine(t, "", append([]string{"cat", out, "--latest"}, flags...)...)
	c.expect(0)
	for line := range strings.Lines(c.stdout.String()) {
		var r struct {
			URL string `json:"url"`
		}
		if err := jsontext.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, strings.TrimPrefix(r.URL, seed))
	}
	slices.Sort(paths)
	return paths
}

// A page that is removed is recorded once, in a gone record, and is not among the latest records
// until it is back. It comes back even if the site reports it as unmodified.
func TestPageThatIsTakenAwayIsRecorded(t *testing.T) {
	t.Parallel()
	const spec = "gone: record\nduplicates: {unchanged: drop}\n"
	for name, tt := range map[string]struct {
		database bool
		spec     string
	}{
		"files":                   {false, spec},
		"records without a crawl": {false, spec + "page: {fields: [url, fetched_at]}\n"},
		"SQLite":                  {true, spec},
		"SQLite without a crawl":  {true, spec + "page: {fields: [url, fetched_at]}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web, seed := newShop(t)
			p := newWorkspace(t)
			args := []string{"--path", "{crawl}/{kind}"}
			pages := filepath.Join(p.out, "default", "page")
			if tt.database {
				p.out = "sqlite:" + p.out + ".db"
				args, pages = nil, p.out
			}
			first := append(args, seed, "--spec", file(t, "spec.yaml", tt.spec))
			for n, step := range []struct {
				away  bool
				there []string
				gone  int64 // gone records in total
			}{
				{false, []string{"", "list", "old", "price"}, 0},
				{true, []string{"", "list", "price"}, 1},
				{true, []string{"", "list", "price"}, 1},
				{false, []string{"", "list", "old", "price"}, 1},
				{true, []string{"", "list", "price"}, 2},
			} {
				web.mu.Lock()
				web.later = step.away
				web.mu.Unlock()
				p.crawl(append(slices.Clone(first), "--again")...).expect(0)
				first = nil // the crawl remembers the rest
				for _, from := range []string{p.out, pages} {
					if got := latest(t, seed, from); !slices.Equal(got, step.there) {
						t.Errorf("run %d: %s has %q, want %q", n+1, from, got, step.there)
					}
				}
				want := []string{"old"}
				if slices.Contains(step.there, "old") {
					want = nil
				}
				if got := latest(t, seed, p.out, "--kind", "gone"); !slices.Equal(got, want) {
					t.Errorf("run %d: %q are gone, want %q", n+1, got, want)
				}
				if got := goneRecords(t, p.out); got != step.gone {
					t.Errorf("run %d: %d records say so, want %d", n+1, got, step.gone)
				}
			}
			if !tt.database {
				return
			}
			db := strings.TrimPrefix(p.out, "sqlite:")
			if n := askSQLite(t, db, `SELECT count(*) FROM changes_page WHERE url LIKE '%/old' AND change = 'gone'`); n != 2 {
				t.Errorf("the page went %d times by the view, want 2", n)
			}
			if n := askSQLite(t, db, `SELECT count(*) FROM records_page`); n != 3 {
				t.Errorf("%d pages are there by the view, want 3", n)
			}
		})
	}
}

// goneRecords returns the number of committed records of gone pages.
func goneRecords(t *testing.T, out string) int64 {
	t.Helper()
	if file, ok := strings.CutPrefix(out, "sqlite:"); ok {
		return askSQLite(t, file, `SELECT count(*) FROM events WHERE kind = 'gone' AND since IS NULL`)
	}
	c := seine(t, "", "cat", out, "--kind", "gone")
	c.expect(0)
	return int64(strings.Count(c.stdout.String(), "\n"))
}
