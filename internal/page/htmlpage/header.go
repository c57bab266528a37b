package htmlpage

import (
	"iter"
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/page/mediatype"
)

// maxHeaderLinks bounds the links read from Link headers. Real ones have a handful.
const maxHeaderLinks = 1000

// HeaderLinks returns the links of a response's Link headers (RFC 8288), each URL once, resolved
// against the URL of the page. It does not return the page itself, links from another resource
// (anchor), or links that are not hyperlinks: resources of the page such as style sheets, icons and
// preloads (HTML section 4.6.7). Text and Rel are always set.
//
// For a header with a syntax error, it returns the links before the error. If pageURL cannot be a
// base, it returns none.
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

// HeaderCanonical returns the canonical URL of a page from Link headers (RFC 6596), or "" if they
// have none.
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

// headerLinks yields the links of Link headers, of each header up to its first syntax error.
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

// RefreshLinks returns the link of a response's Refresh header, which browsers follow like a meta
// refresh (HTML section 7.5.2, "shared declarative refresh steps"): that of the first valid value
// with a URL, otherwise none.
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

// headerLink is one link of a Link header: its target and the first occurrence of each relevant
// parameter.
type headerLink struct {
	target             string
	rel, anchor, title string
	seen               struct{ rel, anchor, title bool }
}

// fromPage reports whether the link is from the page or from a part of it (RFC 8288 section 3.2).
func (l *headerLink) fromPage() bool { return l.anchor == "" || l.anchor[0] == '#' }

// set sets a parameter. Only the first parameter of a name counts (RFC 8288 section 3.3 requires
// this for rel; here it holds for all).
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
	maxParams   = 1 << 10     // of a link; the rest of the header is ignored
	listSpace   = " \t" + "," // empty list elements are skipped (RFC 9110 section 5.6.1.2)
)

// cutHeaderLink cuts the first link off a Link header's value, by the algorithm of RFC 8288
// appendix B.2. ok is false if there is none.
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
		s = "" // a syntax error; the rest is ambiguous
	}
	return l, s, true
}
