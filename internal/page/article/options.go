package article

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Options determine what belongs to a main content.
type Options struct {
	// Comments keeps the comments of a text, after it in a section with the heading Comments. The
	// posts of a thread are content, not comments.
	Comments bool
	Prefer   Preference
}

// Preference is the preferred trade-off between missing and surplus content.
type Preference uint8

// Preferences.
const (
	Balanced  Preference = iota
	Precision            // rather lose content: only the text, without title, standfirst, captions and links to other texts
	Recall               // rather keep boilerplate: names in class and id are ignored, and lists of links are kept
)

// trust returns the trust of the first attempt.
func (p Preference) trust() trust {
	switch p {
	case Precision:
		return trustWeakNames
	case Recall:
		return trustElements
	case Balanced:
	}
	return trustNames
}

// trustOnIndex returns the trust in words of class and id for a page that may be an index. There
// weak words name content, so they count only if the page declares a text, a thread or a product.
func (p Preference) trustOnIndex(of pageKind) trust {
	if p == Precision || of != kindUnknown {
		return trustNames
	}
	return trustStrongNames
}

// trimContent drops content outside the body of a text. With Precision it drops everything before
// the body, titles, captions and lines of links. It drops content after the body, also in elements
// named article. It drops paragraphs that posts of a thread repeat, except with Recall.
func trimContent(bs blocks, main int32, prefer Preference) {
	if bs[0].kind == kindThread && prefer != Recall {
		dropCopies(bs, main)
	}
	first, end := main, int32(0)
	switch {
	case prefer == Precision:
		first, end = bs.body(main, 5)
	case prefer == Balanced && bs[0].kind == kindArticle:
		_, end = bs.body(main, 2)
	default:
		return
	}
	drop(bs, main, func(b *block) bool {
		return b.end <= first || b.at >= end || prefer == Precision && b.isBesideText()
	})
	bs.sum()
}

// isBesideText reports whether a block is a title, a caption or a line of links.
func (b *block) isBesideText() bool {
	isTitle := b.node.DataAtom == atom.H1 || b.node.DataAtom == atom.Figcaption
	return isTitle || !b.inData && b.text > 0 && b.link*4 >= b.text*3
}

// body returns the start and end of the body in main: from the first to the last element of the
// class whose own paragraphs have the most text. It returns all of main if these have less than one
// part in parts of its text.
func (bs blocks) body(main, parts int32) (first, end int32) {
	own := make(map[uint64]int32)
	var best uint64
	for b := range bs.kept(main, bs[main].end) {
		if key := bodyKey(bs, b); key != 0 {
			if own[key] += b.own - b.ownLink; own[key] > own[best] {
				best = key
			}
		}
	}
	if own[best]*parts < words(&bs[main]) {
		return main, bs[main].end
	}
	for b := range bs.kept(main, bs[main].end) {
		if bodyKey(bs, b) == best {
			if first == 0 {
				first = b.at
			}
			end = max(end, bs[b.parent].end)
		}
	}
	return first, end
}

// bodyKey returns a key that paragraphs in elements of one class share, and 0 for other elements.
func bodyKey(bs blocks, b *block) uint64 {
	if b.node.DataAtom != atom.P || b.parent < 0 {
		return 0
	}
	if key := classKey(bs[b.parent].node); key != 0 {
		return key
	}
	return uint64(b.parent) + 1
}

// addComments adds the page's comments to a content that lacks them.
func addComments(bs blocks, content *html.Node, main int32) {
	kept := bs.drops(main)
	bs.restore()
	bs.dropElements()
	var all groups
	isPost := func(b *block) bool { return b.isPost && b.end <= main }
	all.group(bs, 1, main, isPost)
	isPost = func(b *block) bool { return b.isPost }
	for i := main + 1; i < bs[main].end; i++ {
		if kept.dropped[i] {
			all.group(bs, i, bs[i].end, isPost)
			i = bs[i].end - 1
		}
	}
	all.group(bs, bs[main].end, int32(len(bs)), isPost)
	comments := bs.inner(all.largest(leastPosts))
	if len(comments.at) == 0 {
		return
	}
	section, heading := element(atom.Section), element(atom.H2)
	heading.AppendChild(&html.Node{Type: html.TextNode, Data: "Comments"})
	section.AppendChild(heading)
	for _, i := range comments.at {
		bs.cleanPost(i)
		c := bs.copier(i, false)
		c.copy(section, bs[i].node)
	}
	content.AppendChild(section)
}
