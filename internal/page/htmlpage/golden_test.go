package htmlpage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden reads the whole pages in testdata. Update the expected results with -update, and
// review the difference.
func TestGolden(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			body, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			url := "https://docs.example.org/client/4.2/api/" + filepath.Base(page)
			p, err := Scan(body, url, "text/html", Options{Agent: "seinebot"})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, strings.TrimSuffix(page, ".html")+".golden", describe(p))
		})
	}
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", golden, got, want)
	}
}

func describe(p Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\ndescription: %s\ncanonical: %s\nlanguage: %s\ncharset: %s\nnoindex: %t\nnofollow: %t\n",
		p.Title, p.Description, p.Canonical, p.Language, p.Charset, p.NoIndex, p.NoFollow)
	fmt.Fprintf(&b, "\nlinks:\n%s\n\ntext:\n%s\n", links(p), p.Text)
	return b.String()
}
