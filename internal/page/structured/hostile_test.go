package structured

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hostile are pages with the maximum cost: some MB each, in which anything that is not linear, or
// any value that is written once per reference, takes hours or all memory.
var hostile = map[string]func() string{
	"a great many itemprops":    func() string { return `<div itemscope>` + strings.Repeat(`<b itemprop=a>x</b>`, 300_000) },
	"many names":                func() string { return `<div itemscope>` + numbered(`<b itemprop=n%d>x</b>`, 50_000) },
	"many names on one element": func() string { return `<div itemscope><b itemprop="` + numbered(`n%d `, 300_000) + `">` + megabyte },
	"items with many types":     func() string { return `<div itemscope itemtype="` + numbered(`t%d `, 300_000) + `">` },
	"each in each by itemref": func() string {
		return numbered(`<div id=i%[1]d itemprop=p itemscope itemref="`+numbered("i%d ", 100)+`"></div>`, 100) +
			`<div itemscope itemref="` + numbered("i%d ", 100) + `">`
	},
	"a chain of itemrefs, twice each": func() string {
		return `<div itemscope itemref="a0 b0"></div>` + numbered2(`<i id=a%[1]d itemprop=p itemscope itemref="a%[2]d b%[2]d"></i>`+
			`<i id=b%[1]d itemprop=p itemscope itemref="a%[2]d b%[2]d"></i>`, 5000)
	},
	"many items share a large block": func() string {
		return `<div id=x>` + strings.Repeat(`<b itemprop=a>x</b>`, 20_000) + `</div>` + strings.Repeat(`<div itemscope itemref=x></div>`, 20_000)
	},
	"many items share a block without properties": func() string {
		return `<div id=x>` + strings.Repeat(`<b></b>`, 50_000) + `</div>` + strings.Repeat(`<div itemscope itemref=x></div>`, 20_000)
	},
	"properties in each other": func() string { return `<div itemscope>` + strings.Repeat(`<div itemprop=a>`, 400) + megabyte },
	"items in each other, by two names each": func() string {
		return strings.Repeat(`<div itemprop="a b c" itemscope>`, 90) + `<b itemprop=n>x</b>`
	},
	"many itemrefs": func() string { return `<div itemscope itemref="` + numbered(`n%d `, 300_000) + `">` },

	"a long URL referred to often": func() string {
		return `<a id=x itemprop=p href="http://[` + megabyte[:1<<18] + `"></a>` + strings.Repeat(`<div itemscope itemref=x></div>`, 1000)
	},

	"RDFa: a long link around many properties": func() string {
		return `<p><a href="http://[` + megabyte + `">` + strings.Repeat(`<i vocab="http://a/" property=n>x</i>`, 10_000)
	},
	"RDFa: many properties": func() string {
		return `<div vocab="http://a/" typeof=A>` + strings.Repeat(`<b property=a>x</b>`, 300_000)
	},
	"RDFa: many things":       func() string { return numbered(`<b vocab="http://a/" typeof=A resource=r%d></b>`, 100_000) },
	"RDFa: properties nested": func() string { return strings.Repeat(`<div vocab="http://a/" property=a>`, 400) + megabyte },
	"RDFa: items nested":      func() string { return strings.Repeat(`<div vocab="http://a/" property="a b" typeof=A>`, 400) },
	"RDFa: many prefixes": func() string {
		return `<div prefix="` + numbered("p%d: http://a/ ", 100_000) + `">` + numbered(`<b prefix="p: http://b/" property="p%d:x">`, 400)
	},
	"RDFa: many types": func() string { return `<div vocab="http://a/" typeof="` + numbered(`t%d `, 300_000) + `">` },
	"links":            func() string { return strings.Repeat(`<a href=x>y</a>`, 100_000) },

	"JSON nested":          func() string { return script(strings.Repeat(`[`, 1_000_000)) },
	"JSON objects nested":  func() string { return script(strings.Repeat(`{"a":`, 500_000)) },
	"JSON comments":        func() string { return script(strings.Repeat(`<!--`, 1_000_000)) },
	"JSON slashes":         func() string { return script(strings.Repeat(`//   <!-- x -->`, 300_000)) },
	"JSON names":           func() string { return script(`{` + numbered(`"n%d":1,`, 100_000) + `}`) },
	"JSON one name":        func() string { return script(`{` + strings.Repeat(`"n":1,`, 500_000) + `}`) },
	"JSON values":          func() string { return script(strings.Repeat(`{}`, 1_000_000)) },
	"JSON quotation marks": func() string { return script(`["` + strings.Repeat(`\"`, 1_000_000)) },
	"scripts":              func() string { return strings.Repeat(script(`{"a":1}`), 20_000) },
	"metas":                func() string { return numbered(`<meta property="og:%d" content=x>`, 50_000) },
	"names of one meta": func() string {
		return `<meta property="` + numbered(`og:%d `, 300_000) + `" content="` + megabyte + `">`
	},
	"times and authors": func() string { return strings.Repeat(`<time class=published>x</time><a rel=author>y</a>`, 50_000) },
	"graph of all to itself": func() string {
		return script(`{"@id":"a","@type":"Article","author":[` + strings.Repeat(`{"@id":"a"},`, 100_000) + `]}`)
	},
}

var megabyte = strings.Repeat("text ", 200_000)

func script(s string) string { return `<script type=application/ld+json>` + s + `</script>` }

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// numbered2 formats the number and the next one.
func numbered2(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i, i+1)
	}
	return b.String()
}

// maxOutput is the size as JSON that all limits together allow, generously.
const maxOutput = 3*maxItemBytes + 2*maxScriptBytes

func TestHostile(t *testing.T) {
	for name, page := range hostile {
		t.Run(name, func(t *testing.T) {
			root := parse(t, page())
			if n := len(FromHTML(root, testBase).appendJSON(nil)); n > maxOutput {
				t.Errorf("%d bytes", n)
			}
		})
	}
}

// TestDeepTree reads a tree deeper than any from a parser: 200,000 elements.
func TestDeepTree(t *testing.T) {
	root := &html.Node{Type: html.DocumentNode}
	parent := root
	for range 200_000 {
		n := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div, Attr: []html.Attribute{
			{Key: "itemscope"}, {Key: "itemprop", Val: "p"}, {Key: "typeof", Val: "http://a/b"}, {Key: "property", Val: "http://a/c"},
		}}
		if parent == root {
			n.Attr = n.Attr[:1]
		}
		parent.AppendChild(n)
		parent = n
	}
	d := FromHTML(root, testBase)
	if len(d.Problems) == 0 || len(d.appendJSON(nil)) > maxOutput {
		t.Errorf("%d bytes, problems %v", len(d.appendJSON(nil)), d.Problems)
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, page := range hostile {
		b.Run(name, func(b *testing.B) {
			p := page()
			root := parse(b, p)
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				FromHTML(root, testBase).appendJSON(nil)
			}
		})
	}
}
