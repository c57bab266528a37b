package article

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"
)

// reader is another parser of Markdown. Its result must have the text of the page.
var reader = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Footnote))

func render(t testing.TB, markdown string) *html.Node {
	t.Helper()
	var b bytes.Buffer
	if err := reader.Convert([]byte(markdown), &b); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.String())
}

func parse(t testing.TB, page string) *html.Node {
	t.Helper()
	n, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// visibleText returns the printable characters of a text.
func visibleText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u200b' || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
}

// awkward are texts that Markdown could interpret as markup.
var awkward = []string{
	"# no heading", "#tag", "1. no item", "1) no item", "12345678901. long", "- no item", "+ no item", "* no item", "> no quote", "=== no", "---",
	"***", "___", "```", "~~~", "~~no~~", "| a | b |", ":--|--:", "a | b", "`code`", "a ` b", "*no*", "_no_", "snake_case_name", "__init__", "**no**",
	"[no](link)", "![no](image)", "[no]: http://x.example", "[^1]", "[ ] no task", "<b>no</b>", "<http://x.example>", "a < b > c", "&amp;", "&copy;",
	"&#35;", "AT&T;", "AT&T", "back\\slash", "back\\", "ends with #", "!", "2 * 3 * 4", "http://x.example/a_b_c*d", "a*b*c", "\\*", "'quoted'", `"quoted"`,
	"$x_1$", "{a}", "ü_ü", "日本語*です*", "«*»", "x  y", "<!-- no -->", "<?php", "</p>", "%", "@user", ":smile:", "1.", "-", "+", "#", ">", "=", ")", "a\tb",
}

// shapes are the positions of a text.
var shapes = []string{
	"<p>%s</p>", "<p>x %s y</p>", "<p>x<br>%s<br>z</p>", "<h2>%s</h2>", "<ul><li>%s</li></ul>", "<ul><li>%s<ul><li>%s</ul></ul>",
	"<ol><li><p>%s</p><p>%s</p></ol>", "<blockquote>%s</blockquote>", "<table><tr><th>%s<th>b<tr><td>%s<td>c</table>",
	"<dl><dt>%s<dd>%s</dl>", "<p>a<b>%s</b>c</p>", "<p>a <i>%s</i> c</p>", "<p><b>%s</b><b>%s</b><i>%s</i></p>", "<p>a <a href=/x>%s</a>!</p>",
	"<p>!<a href=/x>%s</a></p>", "<p><code>%s</code></p>", "<pre>%s</pre>", "<p>x <em>a <strong>%s</strong> b</em> y</p>", "<p><del>%s</del></p>",
	"<table><tr><th>a<th>b<tr><td><code>%s</code><td>c</table>", "<details><summary>%s</summary>%s</details>", "<a href=/x><h3>%s</h3><p>%s</p></a>",
	"<p>10<sup>%s</sup> x<sup><b>%s</b></sup><sub>%s</sub></p>", "<table><tr><th>a<th>b<tr><td>1<sup>%s</sup><td>c</table>",
	"<ul><li>%s</ul><ul><li>%s</ul><ol><li>%s</ol>", "<blockquote><ul><li><pre>%s</pre></ul></blockquote>", "<p>%s</p><hr><p>%s</p>",
}

func TestTextSurvives(t *testing.T) {
	for _, shape := range shapes {
		for _, text := range awkward {
			survives(t, strings.ReplaceAll(shape, "%s", html.EscapeString(text)))
		}
	}
}

func survives(t testing.TB, page string) {
	t.Helper()
	n := body(t, page)
	md := Markdown(n, "https://x.example/")
	want, got := visibleText(Text(n)), visibleText(Text(render(t, md)))
	if got != want {
		t.Errorf("%s\nMarkdown: %q\n got %q\nwant %q", page, md, got, want)
	}
}

// isPlainText reports whether HTML and Markdown keep a text unchanged: both replace invalid
// characters.
func isPlainText(s string) bool {
	for _, r := range s {
		if r == unicode.ReplacementChar || unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) && r > ' ' {
			return false
		}
	}
	return true
}
