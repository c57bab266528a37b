package structured

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// visible returns facts from the visible page: links with rel=author, and time elements. In the
// page's only article the first time counts if none is marked. Without an article only a marked
// time counts, and an author only if there is just one. Several articles are ignored, since none is
// the page's.
type visible struct {
	answers [3][]string
}

func newVisible(root *html.Node) visible {
	scope, articles := root, 0
	walk(root, func(n *html.Node) bool {
		if dom.Is(n, atom.Article) {
			articles++
			scope = n
			return false
		}
		return articles < 2
	}, nil)
	var v visible
	if articles > 1 {
		return v
	}
	v.read(scope)
	if articles == 0 && len(names(v.answers[author])) > 1 {
		v.answers[author] = nil
	}
	return v
}

// maxShown is the number of authors and times that are read.
const maxShown = 100

func (v *visible) read(scope *html.Node) {
	left := newBudget()
	var stated []string // explicitly marked as published
	for n := range dom.Elements(scope) {
		if len(v.answers[author])+len(v.answers[published]) > maxShown {
			break
		}
		switch {
		case dom.Is(n, atom.A):
			if rel, _ := dom.Find(n, "rel"); hasToken(rel, "author") {
				v.answers[author] = append(v.answers[author], text(n, &left))
			}
		case dom.Is(n, atom.Time), dom.Is(n, atom.Abbr) && isStated(n), isProperty(n, "datePublished"), isProperty(n, "dateModified"):
			f, date := readTime(n, &left)
			v.answers[f] = append(v.answers[f], date)
			if isStated(n) {
				stated = append(stated, date)
			}
		}
	}
	if stated != nil || !dom.Is(scope, atom.Article) {
		v.answers[published] = stated
	}
}

// readTime returns the date of a time element, or of an element that is used as one, and the fact
// that it belongs to, by its property or its class (microformats: h-entry and hAtom).
func readTime(n *html.Node, left *budget) (fact, string) {
	name := "datetime"
	switch {
	case dom.Is(n, atom.Abbr):
		name = "title"
	case !dom.Is(n, atom.Time):
		name = "content"
	}
	date, ok := dom.Find(n, name)
	if !ok {
		date = text(n, left)
	}
	class, _ := dom.Find(n, "class")
	if !isStated(n) && (isProperty(n, "dateModified") || hasToken(class, "updated") || hasToken(class, "dt-updated") || hasToken(class, "modified")) {
		return modified, date
	}
	return published, date
}

// isStated reports whether an element is marked as the time of publication: by the attribute of
// HTML drafts, its property or its class.
func isStated(n *html.Node) bool {
	class, _ := dom.Find(n, "class")
	return dom.Has(n, "pubdate") || isProperty(n, "datePublished") || hasToken(class, "published") || hasToken(class, "dt-published")
}

// isProperty reports whether an element has a microdata property of the page itself.
func isProperty(n *html.Node, name string) bool {
	itemprop, _ := dom.Find(n, "itemprop")
	return itemprop == name && !isScoped(n)
}

// declared implements factProvider.
func (v visible) declared(f fact) []string {
	return v.answers[f]
}
