package article

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"seine/internal/page/dom"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"<p>a  b\n c</p><p>d</p>", "a b c\nd"},
		{"<b>a</b>b <i> c </i>d", "ab c d"},
		{"a<br>b<hr>c", "a\nb\nc"},
		{"<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"},
		{"x&nbsp;y\x00z", "x yz"},
		{"<script>no</script><style>no</style><template>no</template><noscript>no</noscript><textarea>no</textarea>a", "a"},
		{"<pre>a\n  b</pre>", "a b"},
		{"<svg><text>no</text></svg><div>a<div>b</div></div>", "a\nb"},
		{"co\u00adop\u200be\ufeffra\u2060tion \u1780\u200b\u1781", "cooperation \u1780\u200b\u1781"},
		{"a <math><mi>x</mi><annotation encoding='application/x-tex'>x_1</annotation></math><div class=math>\\[y\\]</div>b", "a $x_1$\n$$y$$\nb"},
		{"", ""},
	} {
		if got := Text(body(t, c.page)); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.page, got, c.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	const fence = "```"
	for _, c := range []struct{ page, want string }{
		{"<h1>A <a href=b>b</a></h1><h6>c #</h6><h2></h2>", "# A [b](https://x.example/d/b)\n\n###### c \\#"},
		{"<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"},
		{"<ol start=9><li>a<li><p>b</p><p>c</p></ol>", "9. a\n\n10. b\n\n    c"},
		{"<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol><ol><li>d</ol>", "- a\n\n* b\n\n1. c\n\n1) d"},
		{"<ul><li><input type=checkbox disabled checked> a<li><input type=checkbox disabled> b</ul>", "- [x] a\n- [ ] b"},
		{"<table><tr><th>a<th align=right>b<tr><td>c|d<td><p>e</p><p>f</p></table>", "| a | b |\n| --- | ---: |\n| c\\|d | e<br>f |"},
		{"<table><tr><td rowspan=2>a<td>b<tr><td>c<tr><td colspan=2>d</table>", "| | |\n| --- | --- |\n| a | b |\n| | c |\n| d | |"},
		{"<table><tr><td><h2>a</h2><td><p>b</table>", "## a\n\nb"},
		{"<pre><code class='language-go'>a\n\n  b</code></pre>", fence + "go\na\n\n  b\n" + fence},
		{"<div class='highlight-python notranslate'><div class=highlight><pre>x</pre></div></div>", fence + "python\nx\n" + fence},
		{"<pre>" + fence + "</pre>", "````\n" + fence + "\n````"},
		{"<p>a<code>b`c</code> <kbd>d</kbd></p>", "a``b`c`` `d`"},
		{"<p>a<b> b </b>c<b></b><b>d</b><b>e</b> x<i>y</i>", "a **b** c**de** x*y*"},
		{"<p>(<b>a!</b>)b<b>!c</b>", "(**a!**)b!c"},
		{"<p><del>a</del> <em>b <strong>c</strong></em>", "~~a~~ *b **c***"},
		{"<p>a<br>b<br><br>c", "a\\\nb\n\nc"},
		{"<blockquote>a<blockquote><p>b<p>c</blockquote></blockquote>", "> a\n>\n> > b\n> >\n> > c"},
		{"<blockquote><ul><li>a<pre>b\n\nc</pre></ul></blockquote>", "> - a\n>\n>   " + fence + "\n>   b\n>\n>   c\n>   " + fence},
		{"<dl><dt>a<dt>b<dd>c<dd><p>d<dt>e<dd>f</dl>", "- **a**\n\n  **b**\n\n  c\n\n  d\n\n- **e**\n\n  f"},
		{"<p><img src=/i.png alt='a]b'><img src='data:x'><a href=y><img src=z alt=''></a>", "![a\\]b](https://x.example/i.png)[![](https://x.example/d/z)](https://x.example/d/y)"},
		{"<a href=y><h3>a</h3><p>b</p></a>", "### [a](https://x.example/d/y)\n\nb"},
		{"<a href='javascript:x'>a</a> <a href='mailto:a@x.example'>b</a> <a href='#c'>c</a> <a href='q?a=(1)&amp;lt;b'>d</a>",
			"a [b](mailto:a@x.example) [c](https://x.example/d/#c) [d](https://x.example/d/q?a=%281%29&amp;lt;b)"},
		{"<p>a<sup><a href='#n'>*</a></sup><ol><li id=n>b <a href='#r'>^</a><li>c</ol>", "a[^n1]\n\n[^n1]: b\n\n1. c"},
		{"<details><summary>a</summary>b</details><figure><img src=i><figcaption>c</figcaption></figure>", "**a**\n\nb\n\n![](https://x.example/d/i)\n\nc"},
		{"<p>10<sup>5</sup> x<sup>n</sup> 1<sup>st</sup> H<sub>2</sub>O 10<sub>2</sub> a<sup></sup>b<sup>™</sup><sup><a href=q>1</a></sup>",
			"10<sup>5</sup> x<sup>n</sup> 1st H2O 10<sub>2</sub> ab™[1](https://x.example/d/q)"},
		{"<p><b>10<sup> 5 </sup></b>c<sup><b></b></sup>", "**10<sup> 5</sup>** c"},
		{"<table><tr><th>a<th>b<tr><td><ul><li>c<li>d<ol start=3><li><p>e<li></ol><li></ul>f<td>g</table>", "| a | b |\n| --- | --- |\n| - c<br>- d<br>3. e<br>f | g |"},
		{"<table><tr><td><ul><li>a</ul><td>b<tr><td>c<td>d</table>", "- a\n\nb\n\nc\n\nd"},
		// Presentation markup alone: as text it would be 12, x2 and 38.
		{"<p>a <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> b", "a $\\frac{1}{2}$ b"},
		{"<p><math display=block><mrow><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><msub><mrow><mi>a</mi><mi>b</mi></mrow><mi>i</mi></msub></mrow></math>", "$$x^{2}+{ab}_{i}$$"},
		{"<p><math><mroot><mn>8</mn><mn>3</mn></mroot><mo>=</mo><msqrt><mn>4</mn></msqrt></math>", "$\\sqrt[3]{8}=\\sqrt{4}$"},
		{"<p><math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>f</mi><mo>\u2061</mo><mi>x</mi></math>", "$∑_{i}^{n}fx$"},
		{"<p><math><msup><mi>x</mi><mrow><mo>{</mo><mtext>5 $</mtext><mo>}</mo></mrow></msup></math>", "$x^{\\{\\text{5 \\$}\\}}$"},
		{"<p><math><mrow><mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo></mrow></math>",
			`$(\begin{matrix}1 & 2 \\ 3 & 4\end{matrix})$`},
		{"<p>a<span class=mwe-math-element><span class='mwe-math-mathml-inline mwe-math-mathml-a11y' style='display: none;'><math alttext='{\\displaystyle b}'><mi>b</mi></math></span>" +
			"<img class=mwe-math-fallback-image-inline aria-hidden=true alt='{\\displaystyle b}' src=b.svg></span>c", "a$b$c"},
		{"<p>so <math><mi>e</mi><mo>=</mo><mn>3</mn></math>", "so e=3"},
		{"<p><math><mfrac><mn>1</mn></mfrac><mtable><mtr><mtd><mn>5</mn></mtd></mtr></mtable></math>", "15"},
		{"<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x_{1}\n=*y*</annotation></semantics></math></span>" +
			"<span class=katex-html aria-hidden=true>x1</span></span>, <math alttext='z|w'><mi>z</mi></math>, <math><mi>u</mi></math>", "$x_{1} =*y*$, $z|w$, u"},
		{"<p>a <math display=block alttext='b'><mi>b</mi></math> c<p>d <script type='math/tex; mode=display'>e<f</script><script>g</script>", "a\n\n$$b$$\n\nc\n\nd\n\n$$e<f$$"},
		{"<img class=mwe-math-fallback-image-inline alt='{\\displaystyle a}' src=i.svg> <span class='math notranslate'>\\(b_1\\)</span><div class=math>\\[ c\n d \\]</div><span class=math>e_1</span>",
			"$a$ $b_1$\n\n$$c d$$\n\ne_1"},
		{"<table><tr><th>a<th>b<tr><td><span class=math>\\(|c|\\)</span><td>d</table>", "| a | b |\n| --- | --- |\n| $\\|c\\|$ | d |"},
		{"<head><script src=/js/MathJax.js?config=TeX></script></head><p>Let \\(x_1*y_2*z\\) be, $$a\n= b$$ or \\[c_1\\] \\( <code>\\(d\\)</code>",
			"Let $x_1*y_2*z$ be,\n\n$$a = b$$\n\nor\n\n$$c_1$$\n\n\\\\( `\\(d\\)`"},
		{"<p>Let \\(x_1*y_2*z\\) be", "Let \\\\(x_1\\*y_2\\*z\\\\) be"},
		{"<table><tr><th>a<th>b<tr><td><pre>x | y\n</pre><td>d</table>", "| a | b |\n| --- | --- |\n| `x \\| y` | d |"},
		{"<table><tr><th>a<th>b<tr><td><pre>x\n  z</pre><td>d</table>", "a\n\nb\n\n" + fence + "\nx\n  z\n" + fence + "\n\nd"},
		{"<pre class='brush: java; title: x'>a\u200bb</pre>", fence + "java\nab\n" + fence},
		{"<table><tr><td><pre><code><span class=lnt>1\n</span></code></pre><td><pre><code class=language-go>a\n</code></pre></table>", fence + "go\na\n" + fence},
		{"<div class=code-toolbar><pre>a</pre><div class=toolbar><div class=toolbar-item><a>Copy</a></div></div></div>", fence + "\na\n" + fence},
		{"<p hidden>a</p><button>b</button><script>c</script>", ""},
		{"<span>a<p>b</p>c</span>", "a\n\nb\n\nc"},
		{"<p>1. a<p># b<p>-c<p>- d<p>2.5<p>snake_case _e_", "1\\. a\n\n\\# b\n\n-c\n\n\\- d\n\n2.5\n\nsnake_case \\_e\\_"},
	} {
		want := c.want
		if want != "" {
			want += "\n"
		}
		if got := Markdown(body(t, c.page), "https://x.example/d/"); got != want {
			t.Errorf("%s\n got %q\nwant %q", c.page, got, want)
		}
	}
}

func TestMarkdownOfPartOfAPage(t *testing.T) {
	root := parse(t, "<p>a <b>b <a href=c>c</a></b><p>d")
	var bold *html.Node
	for w := dom.Walk(root); w.Next(); {
		if w.Node.Data == "b" && w.Node.Type == html.ElementNode {
			bold = w.Node
		}
	}
	if got, want := Markdown(bold, "https://x.example/base/"), "**b [c](https://x.example/base/c)**\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Markdown(nil, ""); got != "" {
		t.Errorf("of nothing %q", got)
	}
	if got, want := Markdown(bold, "no URL"), "**b c**\n"; got != want {
		t.Errorf("without a URL %q, want %q", got, want)
	}
}

func TestMainContent(t *testing.T) {
	const text = "This is a sentence that is long enough to be the main content of a page."
	for name, c := range map[string]struct {
		page, want string
	}{
		"body alone":                        {"<p>" + text, text},
		"heading outside":                   {"<h1>Title</h1><div class=sidebar>Something else that is here</div><div><div><p>" + text + "<p>" + text + "</div></div>", "Title\n" + text + "\n" + text},
		"name of the site":                  {"<div><h1><a href='/'>Site</a></h1></div><main><p>" + text + "</main>", text},
		"hidden":                            {"<p>" + text + "<p hidden>no<p style='display: none'>no<p aria-hidden=true>no", text},
		"wrapper with a sidebar":            {"<div class='content-sidebar-wrap'><main><p>" + text + "</main><div class=sidebar><a href=x>x</a></div></div>", text},
		"all in a form":                     {"<form>" + strings.Repeat("<p>"+text+"</p>", 5) + "</form>", strings.TrimSpace(strings.Repeat(text+"\n", 5))},
		"a footnote in an aside":            {"<article><p>" + text + "<aside role=doc-footnote>A note.</aside></article>", text + "\nA note."},
		"highlighted comment":               {"<p>" + text + "<pre><span class=comment># note</span> x</pre>", text + "\n# note x"},
		"links in a main element":           {"<nav><a href=/>Home</a></nav><main><ul><li><a href=a>One page</a><li><a href=b>Another page</a></ul></main>", "One page\nAnother page"},
		"links below a title":               {"<h1>Downloads</h1><p><a href=a>Linux</a> <a href=b>Windows</a></p>", "Downloads\nLinux Windows"},
		"two names":                         {"<h1>Team</h1><ul><li>Ada<li>Ben</ul><footer>2026</footer>", "Team\nAda\nBen"},
		"a number":                          {"<h1>Version</h1><pre>1.2.3</pre>", "Version\n1.2.3"},
		"two words":                         {"<nav><a href=/>Home</a></nav><p>No jobs.</p>", "No jobs."},
		"a form":                            {"<form><h1>Log in</h1><label>Name</label><input></form>", ""},
		"links":                             {"<ul><li><a href=a>One page</a><li><a href=b>Another page of many</a></ul>", ""},
		"only for those with no JavaScript": {"<noscript>" + text + "</noscript>", ""},
		"empty":                             {"", ""},
	} {
		got, ok := Options{}.Main(parse(t, c.page))
		if got.Text != c.want || ok != (c.want != "") {
			t.Errorf("%s: %t, got %q, want %q", name, ok, got.Text, c.want)
		}
	}
	if _, ok := (Options{}).Main(nil); ok {
		t.Error("main content of nothing")
	}
}

// BenchmarkMain and BenchmarkMarkdown have one page of each kind.
func BenchmarkMain(b *testing.B) {
	each(b, func(n, _ *html.Node) { Options{}.Main(n) })
}

func BenchmarkMarkdown(b *testing.B) {
	each(b, func(_, content *html.Node) { Markdown(content, pageURL) })
}

func each(b *testing.B, do func(root, content *html.Node)) {
	for _, p := range load(b, "pages") {
		root := parse(b, p.HTML)
		c, ok := Options{}.Main(root)
		if !ok {
			continue
		}
		b.Run(p.Name, func(b *testing.B) {
			b.SetBytes(int64(len(p.HTML)))
			b.ReportAllocs()
			for b.Loop() {
				do(root, c.Node)
			}
		})
	}
}
