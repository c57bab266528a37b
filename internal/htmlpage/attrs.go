package htmlpage

import "seine/internal/robots"

// Scratch buffers of value: at most two values of a tag are in use at a time.
const (
	first = iota
	second
)

// value returns the decoded value of the current tag's attribute. It is valid
// until the next call for the same buffer, and may be part of the page.
func (s *scanner) value(name string, buf int) ([]byte, bool) {
	raw, ok := s.tokens.attr(name)
	if !ok || isPlain(raw) {
		return raw, ok
	}
	s.decoded[buf] = appendAttribute(s.decoded[buf][:0], raw)
	return s.decoded[buf], true
}

func isPlain(b []byte) bool {
	for _, c := range b {
		if c == '&' || c == 0 {
			return false
		}
	}
	return true
}

// addHref notes the link of an a or area element, and reports whether it has one.
func (s *scanner) addHref(kind Kind) bool {
	href, ok := s.value("href", first)
	if !ok {
		return false
	}
	rel, _ := s.value("rel", second)
	s.links.add(href, kind, parseRel(rel).has(relNoFollow))
	return true
}

// addFrame notes the link of a frame or iframe element. An empty src is the
// same as none: it loads about:blank (section 4.8.5).
func (s *scanner) addFrame() {
	if src, _ := s.value("src", first); len(trimSpace(src)) > 0 {
		s.links.add(src, KindFrame, false)
	}
}

// maxCanonicals bounds the canonical links tried for one that resolves.
const maxCanonicals = 4

// addLink notes a link element that leads to another page.
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
	if kind, ok := s.linkKind(rel); ok {
		s.links.add(href, kind, rel.has(relNoFollow))
	}
}

func (s *scanner) linkKind(rel relation) (Kind, bool) {
	_, translated := s.tokens.attr("hreflang")
	switch {
	case rel.has(relCanonical):
		return KindCanonical, true
	case rel.has(relNext):
		return KindNext, true
	case rel.has(relPrev):
		return KindPrev, true
	case rel.has(relAlternate) && translated && !rel.has(relStylesheet):
		return KindAlternate, true
	}
	return 0, false
}

// setBase takes the first base element that has an href (section 4.2.3).
func (s *scanner) setBase() {
	href, ok := s.value("href", first)
	if !ok || s.seenBase {
		return
	}
	s.seenBase = true
	if len(href) <= maxRef {
		s.baseRef = string(trimSpace(href))
	}
}

// Where the language came from; a higher rank wins (section 3.2.6.2).
const (
	langNone = iota
	langMeta
	langXML
	langHTML
)

func (s *scanner) setLanguages() {
	if v, ok := s.value("lang", first); ok {
		s.setLanguage(v, langHTML)
	}
	if v, ok := s.value("xml:lang", first); ok {
		s.setLanguage(v, langXML)
	}
}

func (s *scanner) setLanguage(v []byte, rank int) {
	v = trimSpace(v)
	if len(v) == 0 || len(v) > maxLanguage || rank <= s.langRank {
		return
	}
	s.page.Language, s.langRank = string(v), rank
}

// readMeta takes a meta element by its name or its http-equiv.
func (s *scanner) readMeta() {
	content, ok := s.value("content", first)
	if !ok {
		return
	}
	if name, ok := s.value("name", second); ok {
		s.readNamed(trimSpace(name), content)
	}
	if equiv, ok := s.value("http-equiv", second); ok {
		s.readPragma(trimSpace(equiv), content)
	}
}

func (s *scanner) readNamed(name, content []byte) {
	switch {
	case is(name, "robots"), s.isAgent(name):
		s.page.Restrict(robots.MetaDirectives(string(content), s.opts.Now))
	case is(name, "description") && s.page.Description == "":
		s.page.Description = s.fold(content, false)
	}
}

func (s *scanner) isAgent(name []byte) bool {
	agent := s.opts.Agent
	if agent == "" || len(name) != len(agent) {
		return false
	}
	for i := range name {
		if lowerByte(name[i]) != lowerByte(agent[i]) {
			return false
		}
	}
	return true
}

// readPragma takes a refresh, of which the first counts, or the default
// language (section 4.2.5.3). A list of languages says nothing.
func (s *scanner) readPragma(equiv, content []byte) {
	switch {
	case is(equiv, "refresh") && !s.seenRefresh:
		if ref, ok := refreshURL(content); ok {
			s.seenRefresh = true
			s.links.add(ref, KindRefresh, false)
		}
	case is(equiv, "content-language"):
		if lang, rest := nextField(content); len(trimSpace(rest)) == 0 {
			s.setLanguage(lang, langMeta)
		}
	}
}
