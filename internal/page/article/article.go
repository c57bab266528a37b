package article

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// littleText is the weight of a main content below which a script may show another one.
const littleText = 6 * enough

// Content is the main content of a page.
type Content struct {
	// Node is a copy of the element that holds the main content, without boilerplate, in a separate
	// document.
	Node *html.Node

	// Text is the text of Node, as returned by [Text].
	Text string
}

// Main returns the main content of a page. It returns false for a page without content, such as a
// form or only links; with Precision, also for a page of a few words; and for a page beyond the
// limits of the package.
func (o Options) Main(root *html.Node) (Content, bool) {
	if root == nil {
		return Content{}, false
	}
	bs, hidden := measure(root, false)
	if bs == nil {
		return Content{}, false
	}
	main, ok := bs.find(o.Prefer)
	seen, all := words(&bs[main]), false
	if hidden > enough && (!ok || seen < littleText) { // a script would show the hidden text
		if whole, _ := measure(root, true); whole != nil {
			if at, found := whole.find(o.Prefer); found && (!ok || words(&whole[at]) > 2*seen) {
				bs, main, ok, all = whole, at, true, true
			}
		}
	}
	if !ok {
		return Content{}, false
	}
	trimContent(bs, main, o.Prefer)
	node := bs.copyMain(main, mathScript(root), all, o.Prefer)
	if o.Comments {
		addComments(bs, node, main)
	}
	return Content{Node: node, Text: Text(node)}, true
}

// find drops boilerplate and returns the block that has the content: one text, the posts of a
// thread, or the entries of a list, perhaps with a text beside them.
func (bs blocks) find(prefer Preference) (main int32, ok bool) {
	main, ok = bs.findText(prefer)
	if description := findDescription(bs, main); description != main {
		return description, true
	}
	text := bs.drops(main)
	bs.restore()
	bs.dropElements()
	if posts, is := bs.posts(); is && (!ok || bs.isThread(main, text, posts)) {
		return bs.keepPosts(posts), true
	}
	if bs[0].kind != kindArticle {
		bs.restore()
		bs.dropBoilerplate(prefer.trustOnIndex(bs[0].kind))
		if cards, is := bs.cards(); is && (!ok || text.words*2 < cards.text) {
			return bs.around(cards.at...), true
		} else if is && text.words < cards.text && len(cards.at) >= manyCards {
			return bs.around(append(cards.at, main)...), true
		}
	}
	if ok && isIndex(bs, text.words, prefer.trustOnIndex(bs[0].kind)) {
		return 0, true
	}
	bs.restoreTo(text)
	if ok || prefer == Precision {
		return main, ok
	}
	return 0, keepLittle(bs)
}

// keepLittle drops the boilerplate by elements and roles. It reports whether the rest is content,
// however little: some words, links below a title, or an element marked as main content.
func keepLittle(bs blocks) bool {
	bs.restore()
	bs.dropBoilerplate(trustElements)
	for b := range bs.kept(0, int32(len(bs))) {
		if isMain := b.node.DataAtom == atom.Main || dom.Attribute(b.node, "role") == "main"; isMain && b.text > 0 {
			return true
		}
	}
	return words(&bs[0]) > 0 || bs[0].hasH1 && bs[0].text > 0
}

// isIndex drops the boilerplate, and reports whether the rest of the page has more than three times
// the text that was found: such a page is an index of links. A page that its markup calls an
// article is an index only if the text found is short.
func isIndex(bs blocks, found int32, names trust) bool {
	bs.restore()
	bs.dropBoilerplate(names)
	return bs[0].text > 3*found && (bs[0].kind != kindArticle || found < enough)
}

// isThread reports whether the posts of a page, rather than the text found, are its content:
// because they are in that text, because the page declares a thread, or because the text is small.
// Comments below an article are not.
func (bs blocks) isThread(main int32, text drops, posts repeated) bool {
	inside, left := int32(0), posts
	for i := main; i < bs[main].end; i++ {
		if text.dropped[i] {
			i = bs[i].end - 1
		} else if left.has(i) {
			inside += words(&bs[i])
		}
	}
	switch {
	case inside*2 > posts.words || bs[0].kind == kindThread:
		return true
	case bs[0].kind == kindArticle && text.words >= 2*enough:
		return false
	}
	return text.words*4 < posts.words
}

// drops has the dropped blocks, and the weight of the main content's text outside links.
type drops struct {
	dropped []bool
	words   int32
}

// drops returns the current drops.
func (bs blocks) drops(main int32) drops {
	d := drops{make([]bool, len(bs)), words(&bs[main])}
	for i := range bs {
		d.dropped[i] = bs[i].dropped
	}
	return d
}

// restoreTo restores the drops of an earlier state.
func (bs blocks) restoreTo(d drops) {
	for i := range bs {
		bs[i].dropped = d.dropped[i]
	}
	bs.sum()
}

// findText returns the block that has the text of the page. Each attempt trusts less of the page's
// own hints than the previous attempt.
func (bs blocks) findText(prefer Preference) (main int32, ok bool) {
	for trust := prefer.trust(); ; trust = trustElements {
		bs.dropBoilerplate(trust)
		main = bs.choose()
		if trust > trustElements && words(&bs[main]) < littleText && bs.hasMoreUntrusted(main) {
			continue
		}
		if words(&bs[main]) >= leastMain {
			if prefer != Recall {
				bs.dropLinkLists(main)
			}
			return main, true
		}
		bs.restore()
		if trust == trustElements {
			return 0, false
		}
	}
}

// hasMoreUntrusted reports whether the page has a main content more than three times as large if
// words in class and id are ignored. If so, it leaves no block dropped.
func (bs blocks) hasMoreUntrusted(main int32) bool {
	d := bs.drops(main)
	bs.restore()
	bs.dropBoilerplate(trustElements)
	if whole := bs.choose(); words(&bs[whole]) > 3*d.words {
		bs.restore()
		return true
	}
	bs.restoreTo(d)
	return false
}

// headOf returns the head of the document that contains a node, or nil.
func headOf(n *html.Node) *html.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	if n.Type == html.DocumentNode {
		n = child(n, atom.Html)
	}
	return child(n, atom.Head)
}

// child returns the first child element with this tag.
func child(n *html.Node, a atom.Atom) *html.Node {
	if n == nil {
		return nil
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == a {
			return c
		}
	}
	return nil
}
