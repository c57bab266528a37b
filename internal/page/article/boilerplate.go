package article

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// enough is the minimum weight of a text that is not just a remark of a template: three sentences,
// in letters and digits.
const enough = 250

// trust is how far names in a page's markup are believed.
type trust uint8

const (
	trustElements    trust = iota // elements and roles
	trustStrongNames              // also words in class and id, except those that also name parts of an index
	trustNames                    // all words in class and id
	trustWeakNames                // also words that are often wrong, where little is lost
)

// dropBoilerplate drops elements that their names or roles mark as boilerplate.
func (bs blocks) dropBoilerplate(trust trust) {
	whole := bs[0].text
	drop(bs, 0, func(b *block) bool { return !isContentRoot(b.node) && bs.isChrome(b, whole, trust) })
	bs.sum()
}

// dropElements drops elements that are boilerplate by their tag or role.
func (bs blocks) dropElements() {
	drop(bs, 0, func(b *block) bool { return !isContentRoot(b.node) && bs.isChromeElement(b) })
	bs.sum()
}

// drop drops further blocks in at, in addition to those that are dropped already.
func drop(bs blocks, at int32, is func(b *block) bool) {
	for b := range bs.kept(at+1, bs[at].end) {
		b.dropped = is(b)
	}
}

// isContentRoot reports whether an element is content or contains it, whatever its name. The names
// of headings are often made from their words.
func isContentRoot(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Html, atom.Body, atom.Main, atom.Pre, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return dom.Attribute(n, "role") == "main"
}

func (bs blocks) isChrome(b *block, whole int32, trust trust) bool {
	if b.node.DataAtom == atom.Form {
		return words(b) < leastMain || trust > trustElements && words(b) < enough
	}
	if bs.isChromeElement(b) {
		return true
	}
	if trust == trustElements || b.text > whole/5*3 {
		return false
	}
	return !b.hasH1 && (b.isNamedBoilerplate(bs[0].kind) && (b.sign != signWeak || trust > trustStrongNames) || trust == trustWeakNames && b.sign == signWeak && b.text*12 < whole)
}

// isNamedBoilerplate reports whether the words in class and id mark a block as boilerplate on a
// page of this kind.
func (b *block) isNamedBoilerplate(page pageKind) bool {
	switch b.sign {
	case signBelow:
		return page < kindArticle && words(b) >= enough
	case signStrong:
		return true
	case signAuthor:
		return !b.isPost || b.link*3 >= b.text
	case signWeak:
		return b.link*3 >= b.text
	case signNone, signNote, signPost:
	}
	return false
}

// isChromeElement reports whether a block is boilerplate by its element or role.
func (bs blocks) isChromeElement(b *block) bool {
	switch dom.Attribute(b.node, "role") {
	case "navigation", "complementary", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar", "banner":
		return !b.hasH1
	case "doc-footnote", "doc-endnotes", "note":
		return false
	}
	switch b.node.DataAtom {
	case atom.Nav, atom.Menu:
		return true
	case atom.Aside:
		return b.sign != signNote
	case atom.Footer:
		return b.node.Parent == nil || b.node.Parent.DataAtom != atom.Blockquote
	case atom.Header:
		return !b.hasH1 && !bs.isIn(b, atom.Article, atom.Main, atom.Section)
	case 0:
		return b.node.Data == "search"
	}
	return false
}

// isIn reports whether a block is in one of some elements. It checks eight ancestors, enough for
// the headers of templates.
func (bs blocks) isIn(b *block, elements ...atom.Atom) bool {
	p := b.parent
	for range 8 {
		if p < 0 {
			return false
		}
		for _, a := range elements {
			if bs[p].node.DataAtom == a {
				return true
			}
		}
		p = bs[p].parent
	}
	return false
}

// dropLinkLists drops groups in a block that are nearly all links.
func (bs blocks) dropLinkLists(main int32) {
	drop(bs, main, func(b *block) bool {
		return isGroup(b.node) && b.text > 0 && !b.hasH1 && isLinks(b, bs[0].kind) && child(b.node, atom.Code) == nil
	})
	bs.sum()
}

// isLinks reports whether a block is mostly links, so that the rest is their labels. A list in a
// text may be one of links. On a product page, half is enough: the links to other products have
// prices beside them.
func isLinks(b *block, page pageKind) bool {
	switch b.node.DataAtom {
	case atom.Ul, atom.Ol, atom.Table:
		return b.link*10 >= b.text*9
	}
	if page == kindProduct {
		return !b.inData && b.link*2 >= b.text
	}
	return !b.inData && b.link*4 >= b.text*3
}

// isGroup reports whether an element only groups others, so that dropping one without text of its
// own loses nothing.
func isGroup(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Ul, atom.Ol, atom.Table, atom.Td, atom.Center, atom.Footer, atom.Header:
		return true
	}
	return false
}
