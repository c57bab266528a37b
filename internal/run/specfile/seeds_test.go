package specfile

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

// write writes files into a new folder and returns its path.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A file of seeds is relative to the spec, and its URLs replace it.
func TestSeedsInFiles(t *testing.T) {
	dir := write(t, map[string]string{
		"spec.yaml":  "seeds:\n  - https://a.test/\n  - {file: urls.txt, priority: 3}\n  - file: urls.json\n",
		"urls.txt":   "# mine\nhttps://b.test/1\n\nhttps://b.test/2\n",
		"urls.json":  `["https://c.test/", {"url": "https://c.test/first", "priority": 0}]`,
		"large.yaml": "seeds: [{file: large.txt}]", "large.txt": strings.Repeat("https://a.test/"+strings.Repeat("x", 85)+"\n", MaxSize/101),
	})
	spec, err := Read(filepath.Join(dir, "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	zero, three := 0, 3
	want := []crawlspec.Seed{
		{URL: "https://a.test/"}, {URL: "https://b.test/1", Priority: &three}, {URL: "https://b.test/2", Priority: &three},
		{URL: "https://c.test/"}, {URL: "https://c.test/first", Priority: &zero},
	}
	if !reflect.DeepEqual(spec.Seeds, want) {
		t.Errorf("%+v", spec.Seeds)
	}
	if _, err := crawlspec.Decode(spec.Encode()); err != nil {
		t.Errorf("it cannot be stored: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "large.yaml")); err == nil || !strings.Contains(err.Error(), "seine seed --file") {
		t.Errorf("a list that cannot be stored: %v", err)
	}
}

// Each invalid line of a seeds file is reported with its number, up to ten lines.
func TestEachWrongLineOfSeedsIsTold(t *testing.T) {
	dir := write(t, map[string]string{
		"spec.yaml": "seeds:\n  - {file: few.txt}\n  - {file: many.txt}\n",
		"few.txt":   "https://a.test/\nno url\n# c\nftp://a.test/\n", "many.txt": strings.Repeat("no url\n", 12),
	})
	_, err := Read(filepath.Join(dir, "spec.yaml"))
	wrong, ok := errors.AsType[*Errors](err)
	if !ok {
		t.Fatal(err)
	}
	var shown strings.Builder
	wrong.Write(&shown, false)
	few, many := filepath.Join(dir, "few.txt"), filepath.Join(dir, "many.txt")
	for _, text := range []string{err.Error(), shown.String()} {
		for _, want := range []string{few + `:2: "no url": `, few + `:4: "ftp://a.test/": `, many + `:10: "no url": `, many + ": and 2 more"} {
			if !strings.Contains(text, "\n"+want) {
				t.Errorf("%s\nlacks %s", text, want)
			}
		}
		if strings.Contains(text, many+":11") || strings.Count(text, "spec.yaml:") != 2 {
			t.Error(text)
		}
	}
}

// Errors of a file are reported at the place that names it.
func TestWrongSeedsInFiles(t *testing.T) {
	dir := write(t, map[string]string{"bad.txt": "https://a.test/\nno url\nnor this\n", "empty.txt": "# nothing\n", "map.txt": `{"url": "https://a.test/", "sitemap": true}`})
	for name, want := range map[string]string{
		"bad.txt":     "spec.yaml:2:10: seeds[1].file: " + filepath.Join(dir, "bad.txt") + `: 2 entries are not seeds`,
		"map.txt":     "spec.yaml:2:10: seeds[1].file: has sitemaps, which the crawl does not follow",
		"empty.txt":   "contains no URL",
		"missing.txt": "missing.txt: no such file",
	} {
		file := filepath.Join(dir, "spec.yaml")
		if err := os.WriteFile(file, []byte("seeds:  [https://a.test/,\n  {file: "+name+"}]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(file)
		if _, ok := errors.AsType[*Errors](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
