// Package doclinks checks the links between documents.
package doclinks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unsaid  = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// anchors returns the anchors of a document's headings, as GitHub generates them.
func anchors(text string) (names []string) {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ReplaceAll(unsaid.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return names
}

// Each link from one document to another leads to an existing file and an existing heading.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	root, seen := filepath.Join("..", "..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || slices.Contains([]string{"node_modules", "testdata"}, d.Name())) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(m[1], ":") {
				seen++
				follow(t, path, m[0], m[1], m[2])
			}
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d links were followed, %v", seen, err)
	}
}

func follow(t *testing.T, from, whole, to, anchor string) {
	target := from
	if to != "" {
		target = filepath.Join(filepath.Dir(from), to)
	}
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s: %s leads to no file", from, whole)
		return
	}
	if anchor == "" || filepath.Ext(target) != ".md" {
		return
	}
	if text, err := os.ReadFile(target); err != nil || !slices.Contains(anchors(string(text)), anchor) {
		t.Errorf("%s: %s leads to no heading, %v", from, whole, err)
	}
}
