package parser

import (
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

// A page that scripts fill is counted if it was not rendered, and has nothing without them.
func TestShells_PagesThatNeedJavaScript_Counted(t *testing.T) {
	t.Parallel()
	const script = "<script src=/app.js></script>"
	for name, c := range map[string]struct {
		contentType, body, rendered string
		change                      func(*crawlspec.Spec)
		want                        int64
	}{
		"empty shell":    {"text/html", "<title>App</title><div>Loading…</div>" + script, "", nil, 1},
		"no script":      {"text/html", "<title>App</title><div>Loading…</div>", "", nil, 0},
		"data in script": {"text/html", `<p>Short</p><script type="application/ld+json">{}</script>`, "", nil, 0},
		"text":           {"text/html", "<p>" + strings.Repeat("word ", 50) + script, "", nil, 0},
		"links":          {"text/html", strings.Repeat("<a href=/a></a>", 3) + links(12) + script, "", nil, 0},
		"rendered":       {"text/html", "<div>Loading…</div>" + script, "the spec wants all pages rendered", nil, 0},
		"may render":     {"text/html", "<div>Loading…</div>" + script, "", func(s *crawlspec.Spec) { s.SetRender(crawlspec.RenderAuto) }, 0},
		"plain text":     {"text/plain", "<div>Loading…</div>" + script, "", nil, 0},
	} {
		p := newParser(t, c.change)
		pg := page(c.contentType)
		pg.Rendered = c.rendered
		p.parsed(t, pg, []byte(c.body))
		if n, example := p.Shells("c"); n != c.want || (example == pageURL) != (c.want > 0) {
			t.Errorf("%s: %d, %q, want %d", name, n, example, c.want)
		}
	}
}

// links is so many different links.
func links(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`<a href="/` + strings.Repeat("a", i+1) + `"></a>`)
	}
	return b.String()
}
