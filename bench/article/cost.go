package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"seine/internal/page/article"
)

// costly is pages that are made to be costly. They are small, so that all get to an end.
var costly = []struct{ name, page string }{
	{"plain paragraphs, 1 MB", strings.Repeat("<p>some <b>bold</b> text and a <a href=x>link</a></p>\n", 20_000)},
	{"rows of a table, 0.7 MB", "<table>" + strings.Repeat("<tr><td>a<td>b", 50_000) + "</table>"},
	{"cells that span, 50 kB", "<table>" + strings.Repeat("<tr><td rowspan=1000>a<td>b", 2000) + "</table>"},
	{"quotes in quotes, 50 kB", strings.Repeat("<blockquote>", 200) + strings.Repeat("<p>ab</p>", 5000)},
	{"lists in lists, 50 kB", strings.Repeat("<ul><li>", 200) + strings.Repeat("<p>ab</p>", 5000)},
	{"divs in divs, 50 kB", strings.Repeat("<div>", 400) + strings.Repeat("<p>ab</p>", 5000)},
}

func measureCost(out io.Writer) error {
	library := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(table.WithCellPaddingBehavior("minimal"))))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "time, memory allocated\tMarkdown\thtml-to-markdown\tmain content\ttrafilatura\treadability")
	xs := extractors()
	work := []func(*html.Node){
		func(n *html.Node) { article.Markdown(n, pageURL) },
		func(n *html.Node) { _, _ = library.ConvertNode(n, converter.WithDomain(pageURL)) },
		func(n *html.Node) { xs[0].text(n) },
		func(n *html.Node) { xs[1].text(n) },
		func(n *html.Node) { xs[3].text(n) },
	}
	for _, c := range costly {
		fmt.Fprint(w, c.name)
		for _, do := range work {
			root, err := parse(c.page)
			if err != nil {
				return err
			}
			took, bytes := cost(func() { do(root) })
			fmt.Fprintf(w, "\t%v %.1f MB", took.Round(time.Millisecond), float64(bytes)/1e6)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func cost(do func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	do()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}
