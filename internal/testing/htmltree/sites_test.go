package htmltree

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// sites is the folder in which `make sites` installs the documentation.
const sites = "../../../.cache/sites/usr/share/doc"

// explained has the pages on which htmlpage and the tree differ, with the reasons. It is empty: the
// documentation has no markup that needs a tree.
var explained = map[string]string{}

// TestSites shows that htmlpage finds exactly the links and the text of the DOM on every page of
// the PostgreSQL and Python documentation.
func TestSites(t *testing.T) {
	for _, site := range []struct {
		dir   string
		least int // pages
	}{{"postgresql-doc-15/html", 1000}, {"python3.11/html", 400}} {
		t.Run(strings.Split(site.dir, "/")[0], func(t *testing.T) {
			pages := sitePages(t, site.dir)
			counts := compareAll(t, site.dir, pages)
			if counts.Pages < site.least || counts.Links < 10*counts.Pages || counts.TextBytes < 1000*counts.Pages {
				t.Errorf("this is not the whole documentation: %+v", counts)
			}
			t.Logf("%+v", counts)
		})
	}
}

func sitePages(t *testing.T, dir string) []string {
	t.Helper()
	var pages []string
	err := filepath.WalkDir(filepath.Join(sites, dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".html") {
			pages = append(pages, path)
		}
		return err
	})
	if err == nil && len(pages) > 0 {
		return pages
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("no pages of %s (%v): run make sites first", dir, err)
	}
	t.Skipf("no pages of %s: make sites brings them", dir)
	return nil
}

// compareAll compares the pages on all processors.
func compareAll(t *testing.T, dir string, pages []string) (total Counts) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			var counts Counts
			for i := w; i < len(pages); i += workers {
				compareFile(t, dir, pages[i], &counts)
			}
			mu.Lock()
			defer mu.Unlock()
			total.Pages += counts.Pages
			total.Links += counts.Links
			total.TextBytes += counts.TextBytes
		})
	}
	wg.Wait()
	return total
}

func compareFile(t *testing.T, dir, path string, counts *Counts) {
	body, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join(sites, dir)+string(filepath.Separator)))
	diffs, err := Compare(body, "https://docs.example.org/"+name, "text/html", counts)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, d := range diffs {
		if explained[name] == "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if len(diffs) == 0 && explained[name] != "" {
		t.Errorf("%s no longer differs; take it off the list", name)
	}
}
