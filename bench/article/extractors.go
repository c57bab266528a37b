package main

import (
	"io"
	"net/url"
	"strings"

	"github.com/go-shiori/go-readability"
	"github.com/markusmobius/go-trafilatura"
	"github.com/rs/zerolog"
	"golang.org/x/net/html"

	"seine/internal/page/article"
)

const pageURL = "https://www.example.org/a/page.html"

// extractor finds the text of the main content of a parsed page. It may change
// the tree.
type extractor struct {
	name string
	text func(root *html.Node) string
}

// extractors is Seine's and what it is compared with, each as its documentation says to get the most out of it.
// Readability takes the heading of a page for its title: it is put back, so that nobody is measured by that.
func extractors() []extractor {
	zerolog.SetGlobalLevel(zerolog.Disabled) // trafilatura logs to a global logger
	return []extractor{
		{"seine", func(root *html.Node) string {
			c, _ := article.Options{}.Main(root)
			return c.Text
		}},
		{"trafilatura", func(root *html.Node) string { return trafilaturaText(root, trafilatura.Balanced) }},
		{"trafilatura, recall", func(root *html.Node) string { return trafilaturaText(root, trafilatura.FavorRecall) }},
		{"readability", readabilityText},
	}
}

func trafilaturaText(root *html.Node, focus trafilatura.ExtractionFocus) string {
	u, err := url.Parse(pageURL)
	if err != nil {
		return ""
	}
	r, err := trafilatura.ExtractDocument(root, trafilatura.Options{
		OriginalURL: u, EnableFallback: true, ExcludeComments: true, Focus: focus, IncludeLinks: true,
	})
	if err != nil {
		return ""
	}
	return withTitle(article.Text(r.ContentNode), r.Metadata.Title)
}

func readabilityText(root *html.Node) string {
	u, err := url.Parse(pageURL)
	if err != nil {
		return ""
	}
	r, err := readability.FromDocument(root, u)
	if err != nil || r.Node == nil {
		return ""
	}
	return withTitle(article.Text(r.Node), r.Title)
}

// withTitle puts a title before a text that does not begin with it.
func withTitle(text, title string) string {
	if text == "" || title == "" || strings.Contains(text[:min(len(text), 2*len(title)+200)], title) {
		return text
	}
	return title + "\n" + text
}

func parse(page string) (*html.Node, error) { return html.Parse(io.Reader(strings.NewReader(page))) }
