package crawlspec

import (
	"slices"
	"strings"
	"testing"

	"seine/internal/testing/generated"
)

func TestExtension(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.test/": "", "https://a.zip": "", "https://a.zip/": "", "https://a.test/b.jpg": "jpg",
		"https://a.test/B.JPG?w=100": "jpg", "https://a.test/b.jpg#c": "jpg", "https://a.test/get?f=b.jpg": "",
		"https://a.test/get?f=/b.jpg": "", "https://a.test/b.jpg/": "", "https://a.test/b.tar.gz": "gz",
		"https://a.test/.png": "png", "https://a.test/b.": "", "https://a.test/wiki/File:Map.svg": "",
		"https://a.test/wiki/File%3AMap.svg": "", "https://a.test:8080/b.pdf": "pdf", "": "",
	} {
		if got := Extension(url); got != want {
			t.Errorf("the extension of %s is %q, want %q", url, got, want)
		}
	}
}

// Types that a rule or accept fetches are not skipped by their extensions.
func TestSkippedExtensions(t *testing.T) {
	for _, c := range []struct {
		spec string
		jpg  bool // whether it is skipped, as for those below
		gz   bool
		pdf  bool
		foo  bool
	}{
		{"", true, true, true, false},
		{"accept: [image/*]", false, true, true, false},
		{"accept: ['*/*']", false, false, false, false},
		{"accept: [application/pdf]", true, true, false, false},
		{"sitemaps: true", true, false, true, false},
		{"skip_extensions: []", false, false, false, false},
		{"skip_extensions: [foo]", false, false, false, true},
		{"{skip_extensions: [foo, jpg], accept: ['*/*']}", false, false, false, true}, // foo is no known extension
	} {
		s, err := parseSpec([]byte(c.spec))
		if err != nil {
			t.Fatal(err)
		}
		skipped := s.SkippedExtensions()
		for ext, want := range map[string]bool{"jpg": c.jpg, "gz": c.gz, "pdf": c.pdf, "foo": c.foo} {
			if got := slices.Contains(skipped, ext); got != want {
				t.Errorf("%s: %s is skipped: %v, want %v", c.spec, ext, got, want)
			}
		}
	}
}

func TestSkipExtensionsAreChecked(t *testing.T) {
	for _, e := range []string{".jpg", "JPG", "", "*.jpg", "tar.gz"} {
		s := Default()
		s.SkipExtensions = Extensions{"zip", e}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "skip_extensions[1]") {
			t.Errorf("%q: %v", e, err)
		}
	}
}

// The documentation of the spec lists the skipped extensions.
func TestGeneratedSkipExtensions(t *testing.T) {
	list := strings.Join(DefaultSkipExtensions(), ", ")
	generated.Check(t, "../../docs/reference/spec.md", "skip_extensions", "```yaml\nskip_extensions: ["+list+"]\n```")
}
