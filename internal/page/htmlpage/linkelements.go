package htmlpage

import (
	"bytes"
	"unicode/utf8"

	"seine/internal/base/ascii"
)

// note adds a link with the value of its rel attribute, if its kind is wanted,
// and returns where it is in the set.
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

// label gives a link the text of an attribute of the current tag.
func (s *scanner) label(i int, attribute string) {
	if i == noReference || !s.opts.LinkTexts || s.links.refs[i].text != "" {
		return
	}
	if v, ok := s.value(attribute, third); ok {
		s.links.refs[i].text = s.foldTo(maxLinkText, v, false)
	}
}

// addAnchor notes the link of an a element, whose text follows.
func (s *scanner) addAnchor() {
	s.endAnchor()
	href, isLink := s.value("href", first)
	if !isLink && s.foreign() {
		href, isLink = s.value("xlink:href", first)
	}
	s.own.enterLink(len(s.text.buf), isLink)
	if !isLink {
		return
	}
	rel, _ := s.value("rel", second)
	i := s.note(href, KindAnchor, rel)
	if i != noReference && s.opts.LinkTexts && s.links.refs[i].text == "" {
		s.startAnchor(i)
	}
}

// addArea notes the link of an area element.
func (s *scanner) addArea() {
	if href, ok := s.value("href", first); ok {
		rel, _ := s.value("rel", second)
		s.label(s.note(href, KindArea, rel), "alt")
	}
}

// addFrame notes the link of a frame or iframe element. An empty src is the
// same as none: it loads about:blank (section 4.8.5).
func (s *scanner) addFrame() {
	if src, _ := s.value("src", first); len(trimSpace(src)) > 0 {
		s.label(s.note(src, KindFrame, nil), "title")
	}
}

// maxCanonicals bounds the canonical links tried for one that resolves.
const maxCanonicals = 4

// addLink notes a link element.
func (s *scanner) addLink() {
	attr, _ := s.value("rel", second)
	rel := parseRel(attr)
	href, _ := s.value("href", first)
	if len(trimSpace(href)) == 0 || len(href) > maxRef {
		return // section 4.6.7: an empty href is no link
	}
	if rel.has(relCanonical) && len(s.canonicalRefs) < maxCanonicals {
		s.canonicalRefs = append(s.canonicalRefs, string(href))
	}
	s.label(s.note(href, s.linkKind(rel), attr), "title")
}

func (s *scanner) linkKind(rel relation) Kind {
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
	if _, translated := s.tokens.attr("hreflang"); translated {
		return KindAlternate
	}
	if media, _ := s.value("type", third); isFeed(media) {
		return KindFeed
	}
	return KindLink
}

// isFeed reports whether a type attribute is that of a feed (section 4.6.7.1).
func isFeed(media []byte) bool {
	media, _, _ = bytes.Cut(media, []byte(";"))
	media = trimSpace(media)
	return ascii.Is(media, "application/rss+xml") || ascii.Is(media, "application/atom+xml") || ascii.Is(media, "application/feed+json")
}

// readImage takes an img element: its links, and its alternative text where it
// is in a link.
func (s *scanner) readImage() {
	if s.anchorRef != noReference {
		if alt, ok := s.value("alt", third); ok {
			s.anchor.separate(gapSpace)
			s.anchor.write(alt, false)
			s.anchor.separate(gapSpace)
		}
	}
	if !s.opts.Kinds.Has(KindImage) && !s.opts.Kinds.Has(KindSrcset) {
		return
	}
	if src, _ := s.value("src", first); len(trimSpace(src)) > 0 { // section 4.8.3: an empty one is an error
		s.label(s.note(src, KindImage, nil), "alt")
	}
	s.addSrcset()
}

// addSrcset notes the candidates of a srcset attribute, of which the last would
// be cut if it were longer than what is kept of a value.
func (s *scanner) addSrcset() {
	if !s.opts.Kinds.Has(KindSrcset) {
		return
	}
	set, _ := s.value("srcset", first)
	if len(set) > maxValue-utf8.UTFMax {
		return
	}
	for url, rest := nextCandidate(set); len(url) > 0; url, rest = nextCandidate(rest) {
		s.label(s.note(url, KindSrcset, nil), "alt")
	}
}

// addForm notes where a form leads that is sent by GET. What is entered replaces
// the query (section 4.10.22.3, "mutate action URL"), so none is kept.
func (s *scanner) addForm() {
	if s.templates > 0 || !s.opts.Kinds.Has(KindForm) {
		return
	}
	if method, _ := s.value("method", first); ascii.Is(method, "post") || ascii.Is(method, "dialog") {
		return
	}
	action, _ := s.value("action", first)
	if len(trimSpace(action)) == 0 {
		return // the page itself
	}
	if i := bytes.IndexAny(action, "?#"); i >= 0 && action[i] == '?' {
		action = action[:i+1] // an empty query is none
	}
	rel, _ := s.value("rel", second)
	s.note(action, KindForm, rel)
}

// addAttributes notes the links of the attributes that Options.Attributes names.
func (s *scanner) addAttributes() {
	for _, name := range s.opts.Attributes {
		if v, _ := s.value(name, first); len(trimSpace(v)) > 0 {
			s.note(v, KindAttribute, nil)
		}
	}
}
