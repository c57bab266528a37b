package parser

import (
	"slices"
	"testing"

	"seine/pkg/crawlspec"
)

func TestLinksAreNormalizedByTheSpec(t *testing.T) {
	body := []byte(`<a href="/a?utm_source=x">1</a><a href="/a?utm_source=y">2</a><a href="/b?ref=1&c=2;jsessionid=3">3</a>
		<a href="/dir/page.html?fbclid=x">self</a><a href="/d;jsessionid=1A/e">4</a><a href="/a">5</a>`)
	for name, c := range map[string]struct {
		normalize crawlspec.Normalize
		want      []string
	}{
		"by default": {crawlspec.DefaultNormalize(), []string{
			"/a", "/b?ref=1&c=2;jsessionid=3", "/d/e",
		}},
		"further parameters": {crawlspec.Normalize{DropParameters: []string{"ref", "utm_*", "fb*"}}, []string{
			"/a", "/b?c=2;jsessionid=3", "/d;jsessionid=1A/e",
		}},
		"sorted": {crawlspec.Normalize{SortQuery: true}, []string{
			"/a", "/a?utm_source=x", "/a?utm_source=y", "/b?c=2;jsessionid=3&ref=1", "/d;jsessionid=1A/e", "/dir/page.html?fbclid=x",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newParser(t, func(s *crawlspec.Spec) { s.Normalize = c.normalize })
			for i, u := range c.want {
				c.want[i] = "https://site.test" + u
			}
			if got := p.parsed(t, page("text/html"), body); !slices.Equal(got.links, c.want) {
				t.Errorf("links %q, want %q", got.links, c.want)
			}
			if got := p.parsed(t, page("text/html"), body); len(got.links) != 0 {
				t.Errorf("links %q are sent again", got.links)
			}
		})
	}
}
