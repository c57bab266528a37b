package article

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/base/cputime"
)

// hostile are pages with the maximum cost.
var hostile = map[string]func(size int) string{
	"paragraphs": func(n int) string {
		return strings.Repeat("<p>some <b>bold</b> text, and a <a href=x>link</a>.</p>\n", n/50)
	},
	"inline":     func(n int) string { return strings.Repeat("<b>a</b>", n/8) },
	"one text":   func(n int) string { return strings.Repeat("a_b*c [x] ", n/10) },
	"items":      func(n int) string { return "<ul>" + strings.Repeat("<li>ab", n/6) },
	"definition": func(n int) string { return "<dl>" + strings.Repeat("<dt>a<dd>b", n/10) },
	"quotes": func(n int) string {
		return strings.Repeat("<blockquote>", 400) + strings.Repeat("<p>ab", n/5)
	},
	"lists": func(n int) string { return strings.Repeat("<ul><li>", 200) + strings.Repeat("<p>ab", n/5) },
	"divs": func(n int) string {
		return strings.Repeat("<div class='sidebar nav'>", 400) + strings.Repeat("<p>ab", n/5)
	},
	"tables":  func(n int) string { return strings.Repeat("<table><tr><td>a<td>b</table>", n/29) },
	"rows":    func(n int) string { return "<table>" + strings.Repeat("<tr><td>a<td>b", n/14) },
	"spans":   func(n int) string { return "<table>" + strings.Repeat("<tr><td rowspan=65000 colspan=60>a<td>b", n/40) },
	"columns": func(n int) string { return "<table><tr>" + strings.Repeat("<td>a", n/5) },
	"nested":  func(n int) string { return strings.Repeat("<table><tr><td>", 120) + strings.Repeat("<p>ab", n/5) },
	"notes": func(n int) string {
		return strings.Repeat("<sup><a href=#a>1</a></sup>", n/54) + strings.Repeat("<p id=a>x", n/18)
	},
	"references": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "<sup><a href=#%d>n%d</a></sup><p id=%d>x", i, i, i)
		}
		return b.String()
	},
	"lines":   func(n int) string { return "<pre>" + strings.Repeat("\n", n-5) },
	"breaks":  func(n int) string { return "a" + strings.Repeat("<br>b", n/5) },
	"classes": func(n int) string { return "<div class='" + strings.Repeat("nav ", n/4) + "'>x" },
	"ruby":    func(n int) string { return "<ruby>" + strings.Repeat("<rt>a<!---->", n/12) },
	"glued":   func(n int) string { return strings.Repeat("<span>a</span><sub>b</sub>", n/26) },
	"noscripts": func(n int) string {
		return strings.Repeat("<noscript>", 400) + strings.Repeat("<i></i>", n/8) + "x"
	},
	"hidden": func(n int) string {
		return strings.Repeat("<div hidden>", 400) + strings.Repeat("<p>ab", n/5)
	},
	"posts": func(n int) string {
		return strings.Repeat("<div>", 400) + strings.Repeat("<p>ab", n/10) + strings.Repeat("<div class=post>"+long+"</div>", n/400)
	},
	"cards": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "<div class=c%c%c><a href=x>ab</a></div>", 'a'+i%26, 'a'+i/26%26)
		}
		return b.String()
	},
	"blank": func(n int) string { return "<p>a" + strings.Repeat(" ", n) + "b" },
}

// Processor time grows at most linearly with the page, so that a page of the maximum size takes
// only a few seconds.
func TestHostile(t *testing.T) {
	const size = 1 << 18
	for name, page := range hostile {
		t.Run(name, func(t *testing.T) {
			n := parse(t, page(size))
			var md string
			before := cputime.Used()
			c, _ := Options{}.Main(n)
			md = Markdown(n, pageURL)
			Markdown(c.Node, pageURL)
			if took := cputime.Used() - before; took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if len(md) > 40*size {
				t.Errorf("%d bytes of Markdown", len(md))
			}
		})
	}
}

// A tree may be deeper than those of html.Parse.
func TestDeep(t *testing.T) {
	for _, a := range []atom.Atom{atom.Div, atom.B, atom.Blockquote, atom.Ul, atom.Table, atom.Tbody, atom.Dl, atom.A, atom.Pre} {
		root := element(atom.Body)
		at := root
		for range 100_000 {
			e := element(a)
			at.AppendChild(e)
			at = e
		}
		at.AppendChild(&html.Node{Type: html.TextNode, Data: "A sentence at the very bottom of the page."})
		if got := Text(root); got != "A sentence at the very bottom of the page." {
			t.Errorf("%v: text %q", a, got)
		}
		if md := Markdown(root, pageURL); a != atom.Pre && !strings.Contains(md, "very bottom of the page") {
			t.Errorf("%v: Markdown %q", a, md)
		}
		if c, ok := (Options{}).Main(root); !ok || !strings.Contains(c.Text, "very bottom") {
			t.Errorf("%v: main content %t %q", a, ok, c.Text)
		}
	}
}

// Above the limit there is no content, and the call returns soon.
func TestTooManyNodes(t *testing.T) {
	root := element(atom.Body)
	for range maxNodes {
		root.AppendChild(element(atom.B))
	}
	if _, ok := (Options{}).Main(root); ok {
		t.Error("main content of too many nodes")
	}
	if md := Markdown(root, pageURL); md != "" {
		t.Errorf("%d bytes of Markdown of too many nodes", len(md))
	}
}

// A page of 30 MB.
func TestLargest(t *testing.T) {
	if testing.Short() {
		t.Skip("30 MB")
	}
	n := parse(t, "<main>"+strings.Repeat("<p>"+strings.Repeat("A sentence of a page that does not end. ", 25)+"</p>\n", 30_000))
	start := cputime.Used()
	c, ok := Options{}.Main(n)
	md := Markdown(c.Node, pageURL)
	if !ok || len(c.Text) < 29_000_000 || len(md) < len(c.Text) {
		t.Errorf("%t, text of %d bytes, Markdown of %d", ok, len(c.Text), len(md))
	}
	if took := cputime.Used() - start; took > 60*time.Second {
		t.Errorf("took %v", took)
	}
}
