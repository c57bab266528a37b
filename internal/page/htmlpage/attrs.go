package htmlpage

import (
	"strings"

	"seine/internal/base/ascii"
	"seine/internal/base/truncate"
	"seine/internal/fetch/robots"
)

// metaReader reads elements that describe the whole page.
type metaReader struct{ *scanner }

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

// maxValue bounds the kept part of an attribute's value, in bytes. Links have to be shorter
// (maxRef), and texts and lists of this length are not read to their end.
const maxValue = 64 << 10

func isPlain(b []byte) bool { return plainLength(b) == len(b) }

// setBase uses the first base element that has an href (section 4.2.3).
func (m metaReader) setBase() {
	href, ok := m.value("href", first)
	if !ok || m.seenBase {
		return
	}
	m.seenBase = true
	if len(href) <= maxRef {
		m.baseRef = string(trimSpace(href))
	}
}

// Source of the language; a higher rank wins (section 3.2.6.2).
const (
	langNone = iota
	langMeta
	langXML
	langHTML
)

func (m metaReader) setLanguages() {
	if v, ok := m.value("lang", first); ok {
		m.setLanguage(v, langHTML)
	}
	if v, ok := m.value("xml:lang", first); ok {
		m.setLanguage(v, langXML)
	}
}

func (m metaReader) setLanguage(v []byte, rank int) {
	v = trimSpace(v)
	if len(v) == 0 || len(v) > maxLanguage || rank <= m.langRank {
		return
	}
	m.page.Language, m.langRank = string(v), rank
}

// read reads a meta element by its name or its http-equiv.
func (m metaReader) read() {
	content, ok := m.value("content", first)
	if !ok {
		return
	}
	if name, ok := m.value("name", second); ok {
		m.readNamed(trimSpace(name), content)
	}
	if equiv, ok := m.value("http-equiv", second); ok {
		m.readPragma(trimSpace(equiv), content)
	}
}

func (m metaReader) readNamed(name, content []byte) {
	switch {
	case ascii.Is(name, "robots"), m.isAgent(name):
		m.page.Restrict(robots.MetaDirectives(string(content), m.opts.Now))
	case ascii.Is(name, "description") && m.page.Description == "":
		m.page.Description = m.foldTo(maxField, content, false)
	}
}

func (m metaReader) isAgent(name []byte) bool {
	return m.opts.Agent != "" && strings.EqualFold(string(name), m.opts.Agent)
}

// readPragma reads a refresh, of which only the first counts, or the default language (section
// 4.2.5.3). It ignores a list of languages.
func (m metaReader) readPragma(equiv, content []byte) {
	switch {
	case ascii.Is(equiv, "refresh") && !m.seenRefresh:
		if ref, ok := refreshURL(content); ok {
			m.seenRefresh = true
			m.addRefresh(ref)
		}
	case ascii.Is(equiv, "content-language"):
		if lang, rest := nextField(content); len(trimSpace(rest)) == 0 {
			m.setLanguage(lang, langMeta)
		}
	}
}

// addRefresh adds a refresh. Without a URL it reloads the page, regardless of the base element, so
// it is not a link.
func (m metaReader) addRefresh(ref []byte) {
	if len(trimSpace(ref)) > 0 {
		m.note(ref, KindRefresh, nil)
	}
}
