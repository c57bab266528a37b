package htmltree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// html5libPages returns the pages of html5lib's tree construction tests, from the copy in
// golang.org/x/net. It skips tests of fragments.
func html5libPages(t *testing.T) []string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/net").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "html/testdata/html5lib-tests/tree-construction/*.dat"))
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range strings.Split("\n"+string(text), "\n#data\n") {
			page, rest, ok := strings.Cut(c, "\n#errors\n")
			if ok && !strings.Contains(rest, "#document-fragment") && !strings.Contains(rest, "#script-on") {
				pages = append(pages, page)
			}
		}
	}
	return pages
}

// differences is the number of those pages that htmlpage reads differently than a tree: text in
// tables that a tree moves (13), framesets, which have no body (7), svg and math that nothing ends
// (6), markup in the description of an svg (2), and noscript, noframes, plaintext and options in
// odd places. It is for version 0.62.0, which has 1,578 pages.
const differences = 35

// TestHTML5lib shows that htmlpage finds the links of the tree on every page of the tests, and the
// text except for the known differences.
func TestHTML5lib(t *testing.T) {
	var counts Counts
	differ := 0
	for _, page := range html5libPages(t) {
		diffs, err := Compare([]byte(page), "https://example.org/", "text/html; charset=utf-8", &counts)
		if err != nil {
			t.Errorf("%q: %v", page, err)
		}
		if len(diffs) == 0 {
			continue
		}
		differ++
		t.Logf("%q: %s", page, strings.Join(diffs, "; "))
		if !strings.HasPrefix(diffs[0], "text ") {
			t.Errorf("%q: %s", page, diffs[0])
		}
	}
	if differ != differences || counts.Pages < 1500 {
		t.Errorf("%d of %d pages differ, %d are known", differ, counts.Pages, differences)
	}
}
