package specfile

import (
	"bytes"
	"path/filepath"
	"testing"

	"seine/pkg/crawlspec"
)

// What Text prints is the same spec again, with values that YAML could read as another type.
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
		text, err := Text(spec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Load(name, text)
		if err != nil || !bytes.Equal(again.Encode(), spec.Encode()) {
			t.Errorf("%s: %v\n%s\nwant %s", name, err, text, spec.Encode())
		}
	}
}
