package htmlpage

import (
	"bytes"
	"unicode/utf8"

	"seine/internal/base/ascii"
)

// linkReader reads elements that link to other URLs.
type linkReader struct{ *scanner }

// note adds a link with the value of its rel attribute, if its kind is wanted, and returns its
// index in the set, or noReference.
func (s *scanner) note(ref []byte, kind Kind, rel []byte) int {
	if !s.opts.Kinds.Has(kind) {
		return noReference
	}
	i := s.links.add(ref, kind, parseRel(rel).has(relNoFollow))
	if i != noReference && s.opts.LinkTexts && s.links.refs[i].rel == "" {
		s.links.refs[i].rel = relTokens(rel)
	}
	return i
}

// label sets the text of a link from an attribute of the current tag.
func (l linkReader) label(i int, attribute string) {
	if i == noReference || !l.opts.LinkTexts || l.links.refs[i].text != "" {
		return
	}
	if v, ok := l.value(attribute, third); ok {
		l.links.refs[i].text = l.foldTo(maxLinkText, v, false)
	}
}

// addAnchor adds the link of an a element, whose text follows.
func (l linkReader) addAnchor() {
	l.endAnchor()
	href, isLink := l.value("href", first)
	if !isLink && l.foreign() {
		href, isLink = l.value("xlink:href", first)
	}
	l.own.enterLink(len(l.text.buf), isLink)
	if !isLink {
		return
	}
	rel, _ := l.value("rel", second)
	i := l.note(href, KindAnchor, rel)
	if i != noReference && l.opts.LinkTexts && l.links.refs[i].text == "" {
		l.startAnchor(i)
	}
}

// addArea adds the link of an area element.
func (l linkReader) addArea() {
	if href, ok := l.value("href", first); ok {
		rel, _ := l.value("rel", second)
		l.label(l.note(href, KindArea, rel), "alt")
	}
}

// addFrame adds the link of a frame or iframe element. An empty src is like none: it loads
// about:blank (section 4.8.5).
func (l linkReader) addFrame() {
	if src, _ := l.value("src", first); len(trimSpace(src)) > 0 {
		l.label(l.note(src, KindFrame, nil), "title")
	}
}

// maxCanonicals bounds the canonical links that are tried until one resolves.
const maxCanonicals = 4

// addLink adds the link of a link element.
func (l linkReader) addLink() {
	attr, _ := l.value("rel", second)
	rel := parseRel(attr)
	href, _ := l.value("href", first)
	if len(trimSpace(href)) == 0 || len(href) > maxRef {
		return // section 4.6.7: an empty href is not a link
	}
	if rel.has(relCanonical) && len(l.canonicalRefs) < maxCanonicals {
		l.canonicalRefs = append(l.canonicalRefs, string(href))
	}
	l.label(l.note(href, l.linkKind(rel), attr), "title")
}

func (l linkReader) linkKind(rel relation) Kind {
	switch {
	case rel.has(relCanonical):
		return KindCanonical
	case rel.has(relNext):
		return KindNext
	case rel.has(relPrev):
		return KindPrev
	case rel.has(relFeed):
		return KindFeed
	case !rel.has(relAlternate) || rel.has(relStylesheet):
		return KindLink
	}
	if _, translated := l.tokens.attr("hreflang"); translated {
		return KindAlternate
	}
	if media, _ := l.value("type", third); isFeed(media) {
		return KindFeed
	}
	return KindLink
}

// isFeed reports whether a type attribute names a feed's type (section 4.6.7.1).
func isFeed(media []byte) bool {
	media, _, _ = bytes.Cut(media, []byte(";"))
	media = trimSpace(media)
	return ascii.Is(media, "application/rss+xml") || ascii.Is(media, "application/atom+xml") || ascii.Is(media, "application/feed+json")
}

// readImage reads an img element: its links, and its alternative text if it is inside a link.
func (l linkReader) readImage() {
	if l.anchorRef != noReference {
		if alt, ok := l.value("alt", third); ok {
			l.anchor.separate(gapSpace)
			l.anchor.write(alt, false)
			l.anchor.separate(gapSpace)
		}
	}
	if !l.opts.Kinds.Has(KindImage) && !l.opts.Kinds.Has(KindSrcset) {
		return
	}
	if src, _ := l.value("src", first); len(trimSpace(src)) > 0 { // section 4.8.3: an empty one is an error
		l.label(l.note(src, KindImage, nil), "alt")
	}
	l.addSrcset()
}

// addSrcset adds the candidates of a srcset attribute. It ignores an attribute whose value may have
// been truncated, which would cut the last candidate.
func (l linkReader) addSrcset() {
	if !l.opts.Kinds.Has(KindSrcset) {
		return
	}
	set, _ := l.value("srcset", first)
	if len(set) > maxValue-utf8.UTFMax {
		return
	}
	for url, rest := nextCandidate(set); len(url) > 0; url, rest = nextCandidate(rest) {
		l.label(l.note(url, KindSrcset, nil), "alt")
	}
}

// addForm adds the target of a form that is sent by GET. Submitted data replaces the query (section
// 4.10.22.3, "mutate action URL"), so the query is dropped.
func (l linkReader) addForm() {
	if l.templates > 0 || !l.opts.Kinds.Has(KindForm) {
		return
	}
	if method, _ := l.value("method", first); ascii.Is(method, "post") || ascii.Is(method, "dialog") {
		return
	}
	action, _ := l.value("action", first)
	if len(trimSpace(action)) == 0 {
		return // the page itself
	}
	if i := bytes.IndexAny(action, "?#"); i >= 0 && action[i] == '?' {
		action = action[:i+1] // an empty query equals no query
	}
	rel, _ := l.value("rel", second)
	l.note(action, KindForm, rel)
}

// addAttributes adds the links in the attributes that Options.Attributes names.
func (l linkReader) addAttributes() {
	for _, name := range l.opts.Attributes {
		if v, _ := l.value(name, first); len(trimSpace(v)) > 0 {
			l.note(v, KindAttribute, nil)
		}
	}
}
