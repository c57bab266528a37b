package extract

import (
	"golang.org/x/net/html"

	"seine/internal/page/article"
)

// markdown returns a node as Markdown, its links and images absolute.
func markdown(n *html.Node, pageURL string) string { return article.Markdown(n, pageURL) }
