package article

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Pages that write common things in unusual markup.
func TestMarkdownOfOddForms(t *testing.T) {
	for _, c := range []struct{ name, html, want string }{
		{"list in a list", "<ol><li>one</li><ol><li>one a</li><li>one b</li></ol><li>two</li></ol>", "1. one\n   1. one a\n   2. one b\n2. two"},
		{"list in a list, deeper", "<ul><li>a</li><ul><li>b</li><ul><li>c</li></ul></ul><li>d</li></ul>", "- a\n  - b\n    - c\n- d"},
		{"two lists in a list", "<ol><li>one</li> <ul><li>x</li></ul> <!-- --> <ol><li>y</li></ol> <li>two</li></ol>", "1. one\n   - x\n   1. y\n2. two"},
		{"list before the first item", "<ul><ul><li>b</li></ul><li>c</li></ul>", "- - b\n- c"},
		{"rowspan to the end", "<table><tr><th>a<th>b</tr><tr><td rowspan=0>x<td>1</tr><tr><td>2</tr><tr><td>3</tr></table>", "| a | b |\n| --- | --- |\n| x | 1 |\n| | 2 |\n| | 3 |"},
		{"rowspan of more rows than there are", "<table><thead><tr><th rowspan=9>a<th>b</tr></thead><tbody><tr><td rowspan=99999999999>x<td>1</tr><tr><td>2</tr></tbody><tbody><tr><td>3<td>4</tr></tbody></table>", "| a | b |\n| --- | --- |\n| x | 1 |\n| | 2 |\n| 3 | 4 |"},
		{"rowspan that is not a number of rows", "<table><tr><th>a<th>b</tr><tr><td rowspan=-1>x<td rowspan=x>1</tr><tr><td>y<td>2</tr></table>", "| a | b |\n| --- | --- |\n| x | 1 |\n| y | 2 |"},
		{"rowspan to the end of the group", "<table><tbody><tr><th>a<th>b</tr><tr><td rowspan=0>x<td>1</tr><tr><td>2</tr></tbody><tbody><tr><td>3<td>4</tr></tbody></table>", "| a | b |\n| --- | --- |\n| x | 1 |\n| | 2 |\n| 3 | 4 |"},
		{"lines by style", "<pre><code><span style='display:block'>alpha</span><span style='display: block;color:red'>beta</span>gamma</code></pre>", "```\nalpha\nbeta\ngamma\n```"},
		{"lines by style, with their ends", "<pre><code><span style='display:flex'>alpha\n</span><span style='display:flex'>beta\n</span></code></pre>", "```\nalpha\nbeta\n```"},
		{"lines by class", "<pre><code><span class='line'>alpha</span><span class='line'><b>be</b>ta</span></code></pre>", "```\nalpha\nbeta\n```"},
		{"classes of lines that end", "<pre><code><span class='line'>alpha</span>\n<span class='line'>beta</span></code></pre>", "```\nalpha\nbeta\n```"},
		{"lines by attribute", "<pre><code><span data-line>alpha</span><span data-line>beta</span></code></pre>", "```\nalpha\nbeta\n```"},
		{"code after code", "<pre><code>alpha</code><code>beta</code></pre>", "```\nalpha\nbeta\n```"},
		{"code beside code", "<pre><code>alpha</code> <code>beta</code></pre>", "```\nalpha beta\n```"},

		{"picture with a placeholder", "<p><img src=/blank.gif data-src=/real.jpg alt=a>", "![a](https://x.example/real.jpg)"},
		{"picture without an address of its own", "<p><img data-actualsrc=/real.jpg alt=a>", "![a](https://x.example/real.jpg)"},
		{"picture with an address in another attribute", "<p><img data-image=/real.jpg alt=a>", "![a](https://x.example/real.jpg)"},
		{"picture with an attribute that is not an address", "<p><img src=/real.jpg data-lazy=true alt=a>", "![a](https://x.example/real.jpg)"},
		{"picture with a set", "<p><img srcset='/a,b.jpg 1x, /c.jpg 2x' alt=a>", "![a](https://x.example/a,b.jpg)"},
		{"picture with a lazy set", "<p><img src='data:image/gif;base64,R0' data-srcset='/a.jpg 1x, /c.jpg 2x' alt=a>", "![a](https://x.example/a.jpg)"},
		{"source of a picture", "<p><picture><source srcset='/a.webp 1x'><img alt=a></picture>", "![a](https://x.example/a.webp)"},
		{"lazy source of a picture", "<p><picture><source data-srcset=/a.webp><img src=/blank.gif alt=a></picture>", "![a](https://x.example/a.webp)"},
		{"picture before its sources", "<p><picture><source srcset=/a.webp><img src=/a.jpg alt=a></picture>", "![a](https://x.example/a.jpg)"},
		{"picture without scripts", "<p>x</p><noscript><img src=/real.jpg alt=a></noscript>", "x\n\n![a](https://x.example/real.jpg)"},
		{"placeholder and picture without scripts", "<p><img src=/blank.gif alt=a><noscript><img src=/real.jpg alt=a></noscript>", "![a](https://x.example/real.jpg)"},
		{"lazy picture and the same without scripts", "<p><img data-src=/real.jpg><noscript><img src=/real.jpg></noscript>", "![](https://x.example/real.jpg)"},
		{"picture that counts readers", "<p>x</p><noscript><img src=/count.gif height=1 width=1 alt=a></noscript><noscript><img src=/count></noscript>", "x"},
		{"text without scripts", "<p>x</p><noscript>Turn on scripts <img src=/a.jpg alt=a></noscript>", "x"},
	} {
		root, err := html.ParseWithOptions(strings.NewReader("<body>"+c.html), html.ParseOptionEnableScripting(false))
		if err != nil {
			t.Fatal(err)
		}
		if got := Markdown(root, "https://x.example/"); strings.TrimSpace(got) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
