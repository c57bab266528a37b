package article

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"seine/internal/page/dom"
)

// Limits of comparisons with JSON-LD: letters of a block, bytes of JSON-LD, blocks.
const (
	maxQuote  = 40
	maxAbout  = 1 << 15
	maxQuotes = 1000
)

// findDescription returns the block that has most of the product description in the page's JSON-LD.
// It returns main if there is none, or if it has less than a third of the text found.
func findDescription(bs blocks, main int32) int32 {
	if bs[0].kind != kindProduct {
		return main
	}
	found, best, left := make(map[int32]int32), int32(0), maxQuotes
	for b := range bs.kept(1, int32(len(bs))) {
		if b.own-b.ownLink < maxQuote || left == 0 {
			continue
		}
		if left--; !strings.Contains(bs[0].about, quote(b.node)) {
			continue
		}
		i := b.at
		for i > 0 && !isHolder(bs[i].node) {
			i = bs[i].parent
		}
		if found[i] += b.own; found[i] > found[best] {
			best = i
		}
	}
	for best > 0 && words(&bs[best]) < enough {
		best = bs[best].parent
	}
	if best > 0 && words(&bs[best])*3 > words(&bs[main]) {
		return best
	}
	return main
}

// quote returns the first letters of the text of a block.
func quote(n *html.Node) (s string) {
	for w := dom.Walk(n); w.Next() && len(s) < maxQuote; {
		switch {
		case w.Leaving:
		case w.Node.Type == html.TextNode:
			s += letters(w.Node.Data, maxQuote-len(s))
		case w.Node != n && (isBlock(w.Node) || isSilent(w.Node)):
			w.Skip()
		}
	}
	return s
}

// letters returns the first letters and digits of a text, in lower case: at least this many bytes,
// if it has them.
func letters(s string, least int) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= least {
			break
		}
		if inWord(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}
