package extract

import (
	"seine/internal/page/article"
	"seine/pkg/crawlspec"
)

// ContentOptions returns the main content options of a spec.
func ContentOptions(c *crawlspec.MainContent) article.Options {
	o := article.Options{Comments: c.Comments == crawlspec.CommentsKeep}
	switch c.Prefer {
	case crawlspec.PreferPrecision:
		o.Prefer = article.Precision
	case crawlspec.PreferRecall:
		o.Prefer = article.Recall
	case crawlspec.PreferBalanced:
	}
	return o
}
