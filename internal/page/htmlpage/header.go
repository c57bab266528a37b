package htmlpage

import (
	"iter"
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/page/mediatype"
)

// maxHeaderLinks bounds the links taken from Link headers. Real ones have a
// handful.
const maxHeaderLinks = 1000

// HeaderLinks returns the links of a response's Link headers (RFC 8288), each
// URL once, by the URL of the page, which they are relative to. It does not
// return the page itself, nor what is no hyperlink: links from something else
// (anchor), and resources of the page such as style sheets, icons and what to
// preload (HTML section 4.6.7). Text and Rel are always given.
//
// Of a header that breaks the syntax it returns the links before the break.
// Where pageURL cannot be a base there are none.
func HeaderLinks(values []string, pageURL string) []Link {
	if len(values) == 0 {
		return nil
	}
	base, err := weburl.NewBase(pageURL)
	if err != nil {
		return nil
	}
	var set linkSet
	set.reset(maxHeaderLinks)
	for l := range headerLinks(values) {
		set.addHeader(&l)
	}
	return set.resolve(base, base.URL(), maxHeaderLinks)
}

// HeaderCanonical returns the canonical URL of a page that Link headers name (RFC 6596), "" if
// they name none.
func HeaderCanonical(values []string, pageURL string) string {
	base, err := weburl.NewBase(pageURL)
	if err != nil {
		return ""
	}
	for l := range headerLinks(values) {
		if l.fromPage() && parseRel([]byte(l.rel)).has(relCanonical) {
			return firstResolved(base, []string{weburl.EscapeInvalid(l.target)})
		}
	}
	return ""
}

// headerLinks are the links of Link headers, up to what breaks the syntax of each.
func headerLinks(values []string) iter.Seq[headerLink] {
	return func(yield func(headerLink) bool) {
		for _, value := range values {
			for l, rest, ok := cutHeaderLink(value); ok; l, rest, ok = cutHeaderLink(rest) {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// RefreshLinks returns the link of a response's Refresh header, which browsers follow
// as they do a meta element's (HTML section 7.5.2, "shared declarative refresh steps"):
// that of the first value that is one and has a URL, none otherwise.
func RefreshLinks(values []string, pageURL string) []Link {
	for _, value := range values {
		ref, ok := refreshURL([]byte(weburl.EscapeInvalid(value)))
		if !ok || len(trimSpace(ref)) == 0 {
			continue
		}
		base, err := weburl.NewBase(pageURL)
		if err != nil {
			return nil
		}
		var set linkSet
		set.reset(1)
		set.add(ref, KindRefresh, false)
		return set.resolve(base, base.URL(), 1)
	}
	return nil
}

func (s *linkSet) addHeader(l *headerLink) {
	rel := parseRel([]byte(l.rel))
	if !l.fromPage() || rel.has(relStylesheet) || rel.has(relResource) {
		return
	}
	i := s.add([]byte(weburl.EscapeInvalid(l.target)), KindHeader, rel.has(relNoFollow))
	if i == noReference {
		return
	}
	r := &s.refs[i]
	if r.rel == "" {
		r.rel = strings.ToValidUTF8(relTokens([]byte(l.rel)), "\ufffd")
	}
	if r.text == "" {
		var f folder
		f.reset(maxLinkText)
		f.write([]byte(strings.ToValidUTF8(l.title, "\ufffd")), false)
		r.text = f.String()
	}
}

// headerLink is one link of a Link header: its target and the first of each
// parameter that matters.
type headerLink struct {
	target             string
	rel, anchor, title string
	seen               struct{ rel, anchor, title bool }
}

// fromPage reports whether the link is from the page, or from a part of it
// (RFC 8288 section 3.2).
func (l *headerLink) fromPage() bool { return l.anchor == "" || l.anchor[0] == '#' }

// set takes a parameter. Only the first of a name counts (RFC 8288 section 3.3
// says this of rel; it is the same here for all).
func (l *headerLink) set(name, value string) {
	take := func(to *string, seen *bool) {
		if !*seen {
			*to, *seen = value, true
		}
	}
	switch strings.ToLower(strings.TrimRight(name, headerSpace)) {
	case "rel":
		take(&l.rel, &l.seen.rel)
	case "anchor":
		take(&l.anchor, &l.seen.anchor)
	case "title":
		take(&l.title, &l.seen.title)
	}
}

const (
	headerSpace = " \t"       // OWS, BWS (RFC 9110 section 5.6.3)
	maxParams   = 1 << 10     // of a link; the rest of the header is not read
	listSpace   = " \t" + "," // empty list elements are passed over (RFC 9110 section 5.6.1.2)
)

// cutHeaderLink cuts the first link off a Link header's value, by the algorithm
// of RFC 8288 appendix B.2. It reports false where there is none.
func cutHeaderLink(s string) (l headerLink, rest string, ok bool) {
	s = strings.TrimLeft(s, listSpace)
	if s == "" || s[0] != '<' {
		return l, "", false
	}
	end := strings.IndexByte(s, '>')
	if end < 0 {
		return l, "", false
	}
	l.target, s = s[1:end], s[end+1:]
	for range maxParams {
		s = strings.TrimLeft(s, headerSpace)
		if s == "" || s[0] != ';' {
			break
		}
		var name, value string
		name, value, s = mediatype.CutParameter(s[1:])
		l.set(name, value)
	}
	if s = strings.TrimLeft(s, headerSpace); s != "" && s[0] != ',' {
		s = "" // something else: what follows is ambiguous
	}
	return l, s, true
}
