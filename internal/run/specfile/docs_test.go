package specfile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The document for users: each example loads, and it says something of each key.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	s := schema(t)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 10 {
		t.Fatalf("only %d examples", len(blocks))
	}
	for _, b := range blocks {
		if _, err := Load("docs/reference/spec.md", []byte(b[1])); err != nil {
			t.Errorf("%v\nin\n%s", err, b[1])
		}
		full := strings.Replace(b[1], "max_depth: ", "max_depth: 1", 1) // a schema knows no key without a value
		if _, err := fits(t, s, []byte(full)); err != nil {
			t.Errorf("%v\nin\n%s", err, b[1])
		}
	}
	for list, names := range choices {
		for _, name := range names {
			if !regexp.MustCompile("[^a-z_]" + regexp.QuoteMeta(name) + "[^a-z_]").Match(text) {
				t.Errorf("docs/reference/spec.md does not tell of %s, of %s", name, list)
			}
		}
	}
	seen := make(map[*typeSchema]bool)
	var visit func(sh *typeSchema)
	visit = func(sh *typeSchema) {
		if sh == nil || seen[sh] {
			return
		}
		seen[sh] = true
		for _, k := range sh.keys {
			if !regexp.MustCompile("`" + k.name + "`|(?m)(^|[ {])" + k.name + ":( |$)").Match(text) {
				t.Errorf("docs/reference/spec.md does not tell of %s, of %s", k.name, k.owner.Name())
			}
			visit(k.shape)
		}
		visit(sh.elem)
	}
	visit(specShape)
}

// Each example of a spec in a guide loads.
func TestGuides(t *testing.T) {
	guides, err := filepath.Glob("../../../docs/guides/*.md")
	if err != nil || len(guides) < 10 {
		t.Fatalf("%d guides, %v", len(guides), err)
	}
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if _, err := Load(guide, []byte(b[1])); err != nil {
				t.Errorf("%v\nin\n%s", err, b[1])
			}
		}
	}
}
