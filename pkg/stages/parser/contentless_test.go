package parser

import (
	"strings"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A page that depends on scripts is counted if it was not rendered and has no content without them.
func TestSuspects_PagesThatNeedJavaScript_Counted(t *testing.T) {
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
		shells, _ := p.Contentless("c")
		if n, example := shells.Sample(); n != c.want || (example == pageURL) != (c.want > 0) {
			t.Errorf("%s: %d, %q, want %d", name, n, example, c.want)
		}
	}
}

// A page with a login form is counted if the spec has no login, unless the page is the site's own
// login page.
func TestSuspects_LoginForms_Counted(t *testing.T) {
	t.Parallel()
	const form = `<form action=/login><INPUT name=user><input name="pw" Type = 'password'></form>`
	for name, c := range map[string]struct {
		url, body string
		depth     int
		change    func(*crawlspec.Spec)
		want      int64
	}{
		"a form in place of a page":    {pageURL, form, 3, nil, 1},
		"a seed that leads to a login": {"https://a.test/login?next=/", form, 0, nil, 1},
		"the page of a login":          {"https://a.test/users/sign_in", form, 1, nil, 0},
		"a form beside text":           {pageURL, form + strings.Repeat("word ", 300), 3, nil, 0},
		"no password":                  {pageURL, `<input type=text name=password> password`, 0, nil, 0},
		"a spec with a login": {pageURL, form, 0, func(s *crawlspec.Spec) {
			s.SetRender(crawlspec.RenderAlways)
			s.Render.Login = &crawlspec.RenderLogin{URL: "https://a.test/login", Script: "0"}
		}, 0},
	} {
		p := newParser(t, c.change)
		pg := page("text/html")
		pg.URL, pg.Depth, pg.Visit.URL = c.url, c.depth, messages.HashURL(c.url)
		p.parsed(t, pg, []byte(c.body))
		_, logins := p.Contentless("c")
		if n, example := logins.Sample(); n != c.want || (example == c.url) != (c.want > 0) {
			t.Errorf("%s: %d, %q, want %d", name, n, example, c.want)
		}
	}
}

// links returns n different links.
func links(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`<a href="/` + strings.Repeat("a", i+1) + `"></a>`)
	}
	return b.String()
}
