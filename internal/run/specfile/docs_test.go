package specfile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each example in the user documentation loads, and the page describes each key.
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
		full := strings.Replace(b[1], "max_depth: ", "max_depth: 1", 1) // a schema does not accept a key without a value
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
	visit(specShape())
}

// Blocks on the page that list keys have the defaults of these keys. Their beginnings identify
// them; some set a key that is unset by default to its effective value.
func TestDocsHaveTheDefaults(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	load := func(text string) string {
		spec, err := Load("docs/reference/spec.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return string(spec.Encode())
	}
	for first, unset := range map[string]string{
		"v: 1": "", "delay: 1s": "", "alerts: ": "", "page:\n  emit: auto": "", "duplicates: ": "", "links:": "",
		"user_agent: ": `{cookies: false, tls: {min_version: "1.2"}}`, "render:\n  mode: never": "render: {mode: never}",
	} {
		_, rest, found := strings.Cut(string(text), "```yaml\n"+first)
		block, _, _ := strings.Cut(rest, "```")
		if got, want := load(first+block), load(unset); !found || got != want {
			t.Errorf("the defaults are %s\nand from %q on the page has %s", want, first, got)
		}
	}
}

// Each spec example in a guide loads.
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
