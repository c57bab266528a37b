package article

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// costOfBlock is subtracted from the value of a block: a label of a button or in a menu has a
// negative value, a sentence a positive one.
const costOfBlock = 12

// costOfMenu is the most that an inner block costs the one that contains it: the inner one can be
// removed.
const costOfMenu = 2 * costOfBlock

// leastMain is the minimum weight of a main content outside links: one short sentence, in letters
// and digits.
const leastMain = 20

// choose returns the index of the block that holds the main content.
//
// findText (article.go) calls it repeatedly. Before each call, dropBoilerplate (boilerplate.go)
// drops blocks that are named as boilerplate, which choose skips. The first attempt trusts the
// words in class and id. If its choice has less text than leastMain, findText restores the blocks,
// and the second attempt trusts only elements and roles.
func (bs blocks) choose() int32 {
	at := bs.narrow(bs.narrow(0, isMain), isArticle)
	bs.evaluate()
	best := bs.best(at, func(b *block, best int32) bool {
		return b.value > best || b.value == best && b.value > 0
	})
	if words(&bs[best]) < leastMain || at > 0 && words(&bs[best])*5 < words(&bs[at])*4 {
		best = at // nearly all links, or the page's markup is a better guide
	}
	whole := bs[best].value
	if whole <= 0 {
		return best
	}
	return bs.best(best, func(b *block, _ int32) bool {
		return b.node.DataAtom == atom.Td && !b.inData && b.value*5 >= whole*3 ||
			b.value*20 >= whole*19 && bs[best].node.DataAtom != atom.Article
	})
}

// best returns the last block in at that is better than the previous best, or at itself.
func (bs blocks) best(at int32, better func(b *block, best int32) bool) int32 {
	best := at
	for b := range bs.kept(at+1, bs[at].end) {
		switch {
		case !isHolder(b.node):
		case b.at < bs[best].end && better(b, bs[best].value), b.at >= bs[best].end && b.value > bs[best].value:
			best = b.at
		}
	}
	return best
}

// words returns the weight of a block's text outside links.
func words(b *block) int32 { return b.text - b.link }

// isHolder reports whether an element can hold a main content. A paragraph is only part of one.
func isHolder(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Body, atom.Td, atom.Pre, atom.Center, atom.Form,
		atom.Table, atom.Details, atom.Fieldset, atom.Blockquote, atom.Header, atom.Dl:
		return true
	}
	return false
}

func isMain(n *html.Node) bool { return n.DataAtom == atom.Main || dom.Attribute(n, "role") == "main" }

func isArticle(n *html.Node) bool { return n.DataAtom == atom.Article }

// narrow returns the only block of a kind within at. It returns at itself if there is none, if
// there are several, or if that block has less than half of the text.
func (bs blocks) narrow(at int32, is func(*html.Node) bool) int32 {
	found := at
	for i := at; i < bs[at].end; {
		b := &bs[i]
		switch {
		case b.dropped:
			i = b.end
		case !is(b.node):
			i++
		default:
			if found != at {
				return at
			}
			found = i
			i = b.end
		}
	}
	if words(&bs[found])*2 < words(&bs[at]) {
		return at
	}
	return found
}

// evaluate sums up the values of blocks.
func (bs blocks) evaluate() {
	for i := range bs {
		bs[i].value = 0
	}
	for i := len(bs) - 1; i > 0; i-- {
		b := &bs[i]
		if b.dropped {
			continue
		}
		b.value += blockScore(b)
		if p := &bs[b.parent]; !p.dropped {
			p.value += max(b.value, -costOfMenu)
		}
	}
	bs[0].value += blockScore(&bs[0])
}

// blockScore returns the value of a block's own text.
func blockScore(b *block) int32 {
	if b.own == 0 {
		return 0
	}
	words := b.own - b.ownLink
	switch b.node.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt, atom.Th, atom.Caption:
		return words
	case atom.Pre:
		return b.own
	case atom.Td:
		if b.inData {
			return b.own / 2
		}
		return words - b.ownLink - costOfBlock/4
	}
	return words - b.ownLink - costOfBlock
}
