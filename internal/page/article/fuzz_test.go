package article

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
	"seine/internal/testing/groundtruth"
)

// FuzzMain: two calls find the same main content of any page, in bounded time, and leave the tree
// unchanged.
func FuzzMain(f *testing.F) {
	pages, err := groundtruth.Load("testdata/pages")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range pages {
		f.Add(p.HTML)
	}
	for _, p := range odd {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, page string) {
		n, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Skip()
		}
		before := dump(n)
		c, ok := Options{}.Main(n)
		md := Markdown(n, "https://x.example/a/b")
		again, _ := Options{}.Main(n)
		if dump(n) != before {
			t.Fatal("the tree is not as it was")
		}
		if again.Text != c.Text || md != Markdown(n, "https://x.example/a/b") {
			t.Fatal("not the same twice")
		}
		if ok != (c.Node != nil) || ok && c.Text != Text(c.Node) {
			t.Fatalf("%t, but %+v", ok, c)
		}
	})
}

// FuzzMarkdown: another parser of Markdown returns the words of a text, in any position.
func FuzzMarkdown(f *testing.F) {
	for i, text := range awkward {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, shape uint8) {
		shape %= uint8(len(shapes))
		if strings.ContainsAny(text, "\x00\r") || !isPlainText(text) {
			t.Skip()
		}
		survives(t, strings.ReplaceAll(shapes[shape], "%s", html.EscapeString(text)))
	})
}

// odd are unusual trees.
var odd = []string{
	"", "text", "<a>", "<p>", "<table>", "<ul>x<li></ul>", "<dl><dd>x<dt></dl>", "<ol start=-5><li>x", "<ol start=999999999><li>x<li>y",
	"<table><tr><td colspan=1000>x<td>y<tr><td rowspan=65000>z</table>", "<b><p>x</b>y", "<a href=x><p>a</p><table><tr><td>b</table></a>",
	"<pre></pre><pre>\n\n</pre>", "<h1></h1><h1><br></h1>", "<ul><li><ul><li><ul><li>x</ul></ul></ul>", "<svg><p>x", "<math><mi>x</mi></math>",
	"<sup><a href='#n'>1</a></sup><ol><li id=n>note <a href='#r'>^</a></ol>", "<base href='//[bad'><a href=x>y</a>", "<frameset><frame>",
	"<li>a<li>b", "<td>a", "<blockquote><pre>a\n\nb</pre></blockquote>", "<img src=x alt='a]b'>", "<code>`</code><code> </code><code>``a``</code>",
	"<template><p>x</template>", `<script src=mathjax.js></script><p>\(a\) $$b$$ \[c \(`, "<form><h1>x</h1></form>", "<div hidden>x</div>", "<q><em></q></em>",
}

// dump writes a tree as text.
func dump(n *html.Node) string {
	var b strings.Builder
	for w := dom.Walk(n); w.Next(); {
		b.WriteString(w.Node.Data)
		if w.Leaving {
			b.WriteByte('/')
			continue
		}
		for _, a := range w.Node.Attr {
			b.WriteString(" " + a.Key + "=" + a.Val)
		}
		b.WriteByte('>')
	}
	return b.String()
}

// body parses a page and returns its body.
func body(t testing.TB, page string) *html.Node {
	t.Helper()
	return child(child(parse(t, page), atom.Html), atom.Body)
}
