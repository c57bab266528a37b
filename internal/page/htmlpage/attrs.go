package htmlpage

import (
	"strings"

	"seine/internal/base/ascii"
	"seine/internal/base/truncate"
	"seine/internal/fetch/robots"
)

// Scratch buffers of value: at most three values of a tag are in use at a time.
const (
	first = iota
	second
	third
	numBuffers = iota
)

// value returns the decoded value of the current tag's attribute. It is valid
// until the next call for the same buffer, and may be part of the page.
func (s *scanner) value(name string, buf int) ([]byte, bool) {
	raw, ok := s.tokens.attr(name)
	if !ok || isPlain(raw) {
		if len(raw) > maxValue {
			raw = truncate.To(raw, maxValue)
		}
		return raw, ok
	}
	s.decoded[buf] = appendAttribute(s.decoded[buf][:0], raw)
	return s.decoded[buf], true
}

// maxValue bounds what is kept of an attribute's value, in bytes. Links have to
// be shorter (maxRef), and no text or list this long is looked at to its end.
const maxValue = 64 << 10

func isPlain(b []byte) bool { return plainLength(b) == len(b) }

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
	case ascii.Is(name, "robots"), s.isAgent(name):
		s.page.Restrict(robots.MetaDirectives(string(content), s.opts.Now))
	case ascii.Is(name, "description") && s.page.Description == "":
		s.page.Description = s.foldTo(maxField, content, false)
	}
}

func (s *scanner) isAgent(name []byte) bool {
	return s.opts.Agent != "" && strings.EqualFold(string(name), s.opts.Agent)
}

// readPragma takes a refresh, of which the first counts, or the default
// language (section 4.2.5.3). A list of languages says nothing.
func (s *scanner) readPragma(equiv, content []byte) {
	switch {
	case ascii.Is(equiv, "refresh") && !s.seenRefresh:
		if ref, ok := refreshURL(content); ok {
			s.seenRefresh = true
			s.addRefresh(ref)
		}
	case ascii.Is(equiv, "content-language"):
		if lang, rest := nextField(content); len(trimSpace(rest)) == 0 {
			s.setLanguage(lang, langMeta)
		}
	}
}

// addRefresh notes a refresh. Without a URL it reloads the page, wherever the
// base element points.
func (s *scanner) addRefresh(ref []byte) {
	if len(trimSpace(ref)) > 0 {
		s.note(ref, KindRefresh, nil)
	}
}
