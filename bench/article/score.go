package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/net/html"

	"seine/internal/page/article"
	"seine/internal/testing/groundtruth"
)

// total is the sum over pages.
type total struct {
	score groundtruth.Score
	f1    float64
	pages int
	took  time.Duration
	bytes int
}

func (t *total) add(s groundtruth.Score, took time.Duration, size int) {
	t.score, t.f1, t.pages = t.score.Add(s), t.f1+s.F1(), t.pages+1
	t.took, t.bytes = t.took+took, t.bytes+size
}

// measure scores what an extractor finds in a page.
func (t *total) measure(x extractor, p groundtruth.Page) (groundtruth.Score, error) {
	root, err := parse(p.HTML)
	if err != nil {
		return groundtruth.Score{}, err
	}
	start := time.Now()
	text := x.text(root)
	took := time.Since(start)
	s := p.Score(text)
	t.add(s, took, len(p.HTML))
	return s, nil
}

func measurePages(out io.Writer, dir string) error {
	pages, err := groundtruth.Load(dir)
	if err != nil {
		return err
	}
	xs := extractors()
	totals := make([]total, len(xs))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	heading(w, xs)
	for _, p := range pages {
		fmt.Fprint(w, p.Name)
		for i, x := range xs {
			s, err := totals[i].measure(x, p)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "\t%s", cell(s))
		}
		fmt.Fprintln(w)
	}
	sum(w, totals)
	return w.Flush()
}

func heading(w io.Writer, xs []extractor) {
	fmt.Fprint(w, "precision recall F1")
	for _, x := range xs {
		fmt.Fprintf(w, "\t%s", x.name)
	}
	fmt.Fprintln(w)
}

func cell(s groundtruth.Score) string {
	return fmt.Sprintf("%.3f %.3f %.3f", s.Precision(), s.Recall(), s.F1())
}

func sum(w io.Writer, totals []total) {
	row := func(name string, value func(t total) string) {
		fmt.Fprint(w, name)
		for _, t := range totals {
			fmt.Fprintf(w, "\t%s", value(t))
		}
		fmt.Fprintln(w)
	}
	row("all words", func(t total) string { return cell(t.score) })
	row("mean F1", func(t total) string { return fmt.Sprintf("            %.3f", t.f1/float64(max(1, t.pages))) })
	row("MB/s, parsing apart", func(t total) string {
		return fmt.Sprintf("            %.1f", float64(t.bytes)/1e6/max(t.took.Seconds(), 1e-9))
	})
}

// measureDocs scores documentation whose generator marks what is text.
func measureDocs(out io.Writer, dirs []string) error {
	xs := extractors()
	for _, dir := range dirs {
		totals := make([]total, len(xs))
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") {
				return err
			}
			return measureDoc(path, xs, totals)
		})
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "%s: %d pages\n", dir, totals[0].pages)
		heading(w, xs)
		sum(w, totals)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func measureDoc(path string, xs []extractor, totals []total) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	root, err := parse(string(body))
	if err != nil {
		return nil // beyond what the parser of HTML takes
	}
	keep := documentText(root)
	if keep == "" {
		return nil // no page of the documentation
	}
	p := groundtruth.Page{HTML: string(body), Keep: keep}
	for i, x := range xs {
		if _, err := totals[i].measure(x, p); err != nil {
			return err
		}
	}
	return nil
}

// documentText returns the text of a page of DocBook or Sphinx without its navigation, tables of contents and the
// links beside headings.
func documentText(root *html.Node) string {
	var text *html.Node
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		for c := n.FirstChild; c != nil; {
			next := c.NextSibling
			switch class := attribute(c, "class"); {
			case class == "navheader" || class == "navfooter" || class == "toc" || class == "list-of-examples" || class == "headerlink":
				n.RemoveChild(c)
			case class == "body" && attribute(c, "role") == "main" || attribute(c, "id") == "docContent":
				text = c
				visit(c)
			default:
				visit(c)
			}
			c = next
		}
	}
	visit(root)
	if text == nil {
		return ""
	}
	return article.Text(text)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
