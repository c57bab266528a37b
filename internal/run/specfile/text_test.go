package specfile

import (
	"bytes"
	"path/filepath"
	"testing"

	"seine/pkg/crawlspec"
)

// The output of Text and TextWithoutDefaults loads as the same spec, with values that YAML could
// read as another type.
func TestTextIsReadBack(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*/spec.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	specs := map[string]*crawlspec.Spec{}
	for _, file := range files {
		if specs[file], err = Read(file); err != nil {
			t.Fatal(err)
		}
	}
	tricky := crawlspec.Default()
	tricky.Include = []string{"true", "~", "007", "1e3", "- a", "a: b # c", "re:^/p/\\d+$", "é\u00a0"}
	specs["tricky"], specs["default"] = &tricky, new(crawlspec.Default())
	for name, spec := range specs {
		for _, print := range []func(*crawlspec.Spec) ([]byte, error){Text, TextWithoutDefaults} {
			text, err := print(spec)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Load(name, text)
			if err != nil || !bytes.Equal(again.Encode(), spec.Encode()) {
				t.Errorf("%s: %v\n%s\nwant %s", name, err, text, spec.Encode())
			}
		}
	}
}

// TextWithoutDefaults prints only the keys that were set, without defaults and the version. Values
// in an object that differ from the default are printed, even if smaller.
func TestTextWithoutDefaults(t *testing.T) {
	for _, text := range []string{
		"", "max_pages: 500\n", "scope: domain\nexclude:\n- '*?sort=*'\n", "delay: 0s\nbreaker:\n  failures: 9\n",
		"links:\n  follow: []\n", "traps:\n  max_path_depth: 0\n", "normalize:\n  drop_sessions: false\n  sort_query: true\n", "render:\n  mode: auto\n", "render:\n  mode: never\n  pdf: true\n", "robots: ignore\nskip_extensions: []\n",
		"records:\n- kind: item\n  each: .item\n  fields:\n    price: .price\n    link:\n      css: a\n      get: '@href'\n", "follow:\n- css: a.next\n", "state: paused\n",
	} {
		spec, err := Load("spec", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := TextWithoutDefaults(spec); err != nil || string(got) != text {
			t.Errorf("%v: %q is printed as %q", err, text, got)
		}
	}
}
