package structured

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden reads the pages in testdata, each modelled on pages of sites. Update the expected
// results with -update, and review the difference.
func TestGolden(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.html")
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, want at least 30: %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			body, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			root := parse(t, string(body))
			base := BaseURL(root, "https://site.example/dir/"+filepath.Base(page))
			compare(t, strings.TrimSuffix(page, ".html")+".golden", FromHTML(root, base).appendJSON(nil))
		})
	}
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, got, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	indented.WriteByte('\n')
	if *update {
		if err := os.WriteFile(golden, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(indented.Bytes(), want) {
		t.Errorf("%s:\n%s\nwant:\n%s", golden, &indented, want)
	}
}

func parse(t testing.TB, page string) *html.Node {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	return root
}
