package fetcher

import (
	"testing"

	"seine/internal/weburl"
)

// FuzzTarget: the request line holds the path of the canonical URL and nothing
// else, or the whole URL.
func FuzzTarget(f *testing.F) {
	for _, path := range []string{"/", "//", "//a|b", "/%zz?%zz", "//%zz", "/a?b?c", "//a?|", "/*", "//*"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		url, err := weburl.Canonicalize("http://h.example/" + path)
		if err != nil {
			return
		}
		if got := target(url).RequestURI(); got != weburl.Path(url) && got != url {
			t.Errorf("%s: sends %s", url, got)
		}
	})
}
