package htmlpage

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
)

// docsPage generates a page like those of documentation generators: some 15 KB with 60 links,
// prose, code and a table.
func docsPage() []byte {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Configuring the server &mdash; Manual</title>
<meta name="description" content="All settings of the server"><link rel="stylesheet" href="style.css">
<link rel="canonical" href="https://example.org/docs/config.html"><link rel="next" href="config-1.html">
<script>window.start = Date.now();</script></head><body class="docs"><nav class="toc"><ul class="menu">`)
	for i := range 30 {
		fmt.Fprintf(&b, "\n<li class=\"item level-1\"><a class=\"reference internal\" href=\"chapter-%d.html#top\">Chapter %d</a></li>", i, i)
	}
	b.WriteString("</ul></nav><main>")
	for i := range 15 {
		fmt.Fprintf(&b, `
<section id="s%[1]d"><h2 class="title">Setting %[1]d<a class="headerlink" href="#s%[1]d" title="Link to this heading">&para;</a></h2>
<p>The value of <code class="literal">setting_%[1]d</code> bounds how much memory one worker may take before it
spills to disk &ndash; see <a class="xref" href="memory.html?setting=%[1]d&amp;view=full" title="Memory">the chapter on
memory</a> and <a class="xref" href="https://www.example.com/notes/%[1]d">these notes</a>. The default suits most
installations; raise it where <em>sorting</em> dominates, and measure before and after.</p>
<pre class="programlisting"><span class="k">set</span> setting_%[1]d = <span class="s">'64MB'</span>;
<span class="k">show</span> setting_%[1]d;</pre>
<table><tr><th>Unit</th><th>Range</th></tr><tr><td>kilobytes</td><td>64 &lt; n</td></tr></table></section>`, i)
	}
	b.WriteString("</main><footer><p>&copy; 2026</p></footer></body></html>")
	return []byte(b.String())
}

func BenchmarkScan(b *testing.B) {
	page := docsPage()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Scan(page, testURL, "text/html", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTokenizerOnly only reads the tokens: the cost of the scan itself, here and in
// golang.org/x/net/html.
func BenchmarkTokenizerOnly(b *testing.B) {
	page := docsPage()
	run := func(name string, pass func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				pass()
			}
		})
	}
	run("here", func() {
		var t tokenizer
		for t.reset(page); t.next() != tokenEnd; {
		}
	})
	run("xnet", func() {
		z := xhtml.NewTokenizer(bytes.NewReader(page))
		for z.Next() != xhtml.ErrorToken {
		}
	})
}

// hostilePieces would be slow, repeated, if anything were quadratic.
var hostilePieces = []string{
	"<", "<a ", "<a href=", "<a href='", "</", "<!--", "<!---", "<script>", "<script><!--", "<title>", "<svg>",
	"<template>", "&", "&a", "&#1", "<![CDATA[", "<!", "a=", "<a a=", "&amp", "x ", "<p>", "\xe9", "<base href=/x>",
	"<link rel=canonical href=a:>", "<meta name=robots content=none>", "<a b c d e f>",
}

// BenchmarkHostile reads 4 MB of each; TestHostileTime compares two lengths.
func BenchmarkHostile(b *testing.B) {
	for _, piece := range hostilePieces {
		page := bytes.Repeat([]byte(piece), 4<<20/len(piece))
		b.Run(piece, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				if _, err := Scan(page, testURL, "", Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
