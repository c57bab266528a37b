package article

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// costOfBlock is what a block has to weigh to be worth anything: a label on a
// button or in a menu costs, a sentence pays.
const costOfBlock = 12

// costOfMenu is the most that a block costs the one around it: it can be taken
// out.
const costOfMenu = 2 * costOfBlock

// leastMain is what a main content has at least outside links: one short sentence, in
// letters and digits.
const leastMain = 20

// choose returns the index of the block that holds the main content.
//
// It is called by find (article.go), in up to two passes. In each, dropBoilerplate (boilerplate.go)
// has dropped before what says that it is no content, and choose passes over what is dropped. The first
// pass trusts the words in class and id. If its choice has less text than leastMain, find restores
// the blocks, and the second pass trusts elements and roles only.
func (bs blocks) choose() int32 {
	at := bs.narrow(bs.narrow(0, isMain), isArticle)
	bs.evaluate()
	best := bs.best(at, func(b *block, best int32) bool {
		return b.value > best || b.value == best && b.value > 0
	})
	if words(&bs[best]) < leastMain || at > 0 && words(&bs[best])*5 < words(&bs[at])*4 {
		best = at // all links but for a word here and there, or the page knows better
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

// best returns the last block in at, or at, that is better than the one before.
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

// words is what a block has to say outside links.
func words(b *block) int32 { return b.text - b.link }

// isHolder says whether an element can hold a main content. A paragraph is part
// of one.
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

// narrow returns the only block of a kind within at, or at itself if there is
// none, are several, or it has less than half of the text.
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

// blockScore is what the text of a block itself is worth.
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
