package e2e

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/jsontext"
)

// docsExample returns an example that crawls the documentation site.
func docsExample(t *testing.T, name string) example {
	t.Helper()
	e := newExample(t, "docs")
	e.name = name
	return e
}

func TestExampleSearch(t *testing.T) {
	t.Parallel()
	e := docsExample(t, "search")
	p := newWorkspace(t)
	p.out = "sqlite:" + p.out + ".db"
	p.crawl(append([]string{"--spec", e.file("spec.yaml")}, e.seeds()...)...).expect(0)
	db, err := sql.Open("sqlite", strings.TrimPrefix(p.out, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	statements, err := os.ReadFile(e.file("search.sql"))
	if err != nil {
		t.Fatal(err)
	}
	index, search, _ := strings.Cut(string(statements), "-- Search it")
	for range 2 { // after each crawl
		if _, err := db.Exec(index); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query("-- " + search)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for ; rows.Next(); found++ {
		var link, breadcrumb, snippet string
		if err := rows.Scan(&link, &breadcrumb, &snippet); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(link, e.base) || breadcrumb == "" || !strings.Contains(snippet, "[") {
			t.Errorf("found %q under %q: %q", link, breadcrumb, snippet)
		}
	}
	if found == 0 || rows.Err() != nil {
		t.Errorf("found %d chunks: %v", found, rows.Err())
	}
	var chunks, largest, indexed int
	if err := db.QueryRow("SELECT count(*), max(size), (SELECT count(*) FROM search) FROM records_chunk").Scan(&chunks, &largest, &indexed); err != nil {
		t.Fatal(err)
	}
	if chunks < 10 || largest > 300 || indexed != chunks {
		t.Errorf("%d chunks, of which %d are indexed; the largest has %d tokens", chunks, indexed, largest)
	}
}

func TestExampleMirror(t *testing.T) {
	t.Parallel()
	e := docsExample(t, "mirror")
	p := newWorkspace(t)
	args := []string{"--spec", e.file("spec.yaml"), "--format", "markdown"}
	files := func() map[string]string {
		p.crawl(append(args, e.seeds()...)...).expect(0)
		args = []string{"--again"}
		all := make(map[string]string)
		names, err := filepath.Glob(filepath.Join(p.out, "*", "*", "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(text)
		}
		return all
	}
	first := files()
	for name, text := range first {
		front, content, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "---\n\n")
		var fields map[string]string
		if err := yaml.Unmarshal([]byte(front), &fields); err != nil || fields["title"] == "" || !strings.HasPrefix(content, "# ") {
			t.Errorf("%s: %v: %.200s", name, err, text)
		}
		path := strings.TrimPrefix(fields["url"], e.base)
		if want := filepath.FromSlash(path + ".md"); !strings.HasSuffix(name, want) {
			t.Errorf("the page %s is in %s", path, name)
		}
	}
	if second := files(); len(first) < 3 || fmt.Sprint(second) != fmt.Sprint(first) {
		t.Errorf("%d files, and %d others after the next run", len(first), len(second))
	}
}

// An edit of a page is reported as new and gone chunks. All other chunks keep their keys.
func TestChunksOfAPageThatChanges(t *testing.T) {
	t.Parallel()
	var later atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		for i := range 8 {
			if later.Load() && i == 2 {
				b.WriteString("<h2>New</h2><p>" + strings.Repeat("A section that was not there before. ", 5) + "</p>")
			}
			if !later.Load() || i != 5 {
				fmt.Fprintf(&b, "<h2 id=s%d>Section %d</h2><p>%s</p>", i, i, strings.Repeat(fmt.Sprintf("Words about the subject number %d. ", i), 6))
			}
		}
		fmt.Fprintf(w, "<html><title>Page</title><main><h1>Page</h1>%s</main></html>", b.String())
	}))
	defer web.Close()
	p := newWorkspace(t)
	p.crawl(web.URL+"/", "--spec", file(t, "spec.yaml", "chunks: {size: 40, unit: words}\n")).expect(0)
	later.Store(true)
	p.crawl("--again").expect(0)
	c := seine(t, "", "cat", p.out, "--changes", "--kind", "chunk", "--run", "last")
	c.expect(0)
	got := make(map[string][]string)
	for line := range strings.Lines(c.stdout.String()) {
		var change struct {
			Change  string   `json:"change"`
			Changed []string `json:"changed"`
			Record  struct {
				Breadcrumb string `json:"breadcrumb"`
			} `json:"record"`
		}
		if err := jsontext.Unmarshal([]byte(line), &change); err != nil {
			t.Fatal(err)
		}
		if len(change.Changed) > 0 && !slices.Equal(change.Changed, []string{"position"}) {
			t.Errorf("%s: %q changed", change.Record.Breadcrumb, change.Changed)
		}
		got[change.Change] = append(got[change.Change], regexp.MustCompile(`.* > `).ReplaceAllString(change.Record.Breadcrumb, ""))
	}
	if !slices.Equal(got["new"], []string{"New"}) || !slices.Equal(got["gone"], []string{"Section 5"}) || len(got["same"])+len(got["changed"]) != 7 {
		t.Errorf("changes are %q", got)
	}
}
