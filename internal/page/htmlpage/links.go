package htmlpage

import (
	"bytes"

	"seine/internal/base/weburl"
)

// reference is a link as written. It is resolved after the whole document was read, since a base
// element also applies to preceding links (section 4.2.3).
type reference struct {
	ref             string // without a fragment, unless that is a route
	kind            Kind   // of the first reference
	kinds, unmarked Kinds
	text, rel       string
	page            int
}

// maxPooled bounds the maps kept for reuse: clearing a map costs its capacity, which later pages
// should not pay for one page with many links.
const maxPooled = 1 << 10

// linkSet collects the links of a page, each once.
type linkSet struct {
	refs   []reference
	byRef  map[string]int
	byURL  map[string]int
	limit  int
	routes bool // routes belong to URLs
	page   int  // number of the current page
}

// reset empties the set. It collects up to twice the requested number of links, as some will not
// resolve or turn out to be equal. Only a page with more distinct references can yield fewer links
// than it has.
func (s *linkSet) reset(maxLinks int) {
	s.limit, s.page = 2*maxLinks, 0
	clear(s.refs)
	s.refs = s.refs[:0]
	s.byRef = emptied(s.byRef)
	s.byURL = emptied(s.byURL)
}

func emptied(m map[string]int) map[string]int {
	if m == nil || len(m) > maxPooled {
		return make(map[string]int)
	}
	clear(m)
	return m
}

// noReference is returned by add for a link that is not kept.
const noReference = -1

// add adds a link by its decoded attribute value, and returns its index in refs. It first removes a
// fragment that is not a route. In an http URL the fragment starts at the first "#" (URL standard
// section 4.4) and names a position in a page. Without fragments, most references repeat.
func (s *linkSet) add(ref []byte, kind Kind, noFollow bool) int {
	route := ""
	if i := bytes.IndexByte(ref, '#'); i >= 0 {
		if s.routes {
			route = weburl.Route(string(ref[i:]))
		}
		ref = ref[:i]
	}
	if ref = trimSpace(ref); route != "" {
		ref = append(bytes.Clone(ref), route...)
	}
	if len(ref) > maxRef {
		return noReference
	}
	bit, unmarked := Kinds(1)<<kind, Kinds(1)<<kind
	if noFollow {
		unmarked = 0
	}
	if i, ok := s.byRef[string(ref)]; ok {
		s.refs[i].kinds |= bit
		s.refs[i].unmarked |= unmarked
		return i
	}
	if len(s.refs) >= s.limit {
		return noReference
	}
	i := len(s.refs)
	r := reference{ref: string(ref), kind: kind, kinds: bit, unmarked: unmarked, page: s.page}
	s.byRef[r.ref] = i
	s.refs = append(s.refs, r)
	return i
}

// resolve returns the links as URLs, at most maxLinks, without self. It omits references that do
// not resolve to a fetchable URL (mailto:, javascript:, …).
func (s *linkSet) resolve(base *weburl.Base, self string, maxLinks int) []Link {
	if len(s.refs) == 0 {
		return nil
	}
	links := make([]Link, 0, min(len(s.refs), maxLinks))
	for i := range s.refs {
		r := &s.refs[i]
		u, err := base.ResolveRoute(r.ref)
		if err != nil || u == self {
			continue
		}
		if i, ok := s.byURL[u]; ok {
			links[i].merge(r)
			continue
		}
		if len(links) < maxLinks {
			s.byURL[u] = len(links)
			links = append(links, Link{
				URL: u, Kind: r.kind, NoFollow: r.unmarked == 0, Kinds: r.kinds, Unmarked: r.unmarked, Text: r.text, Rel: r.rel, Page: r.page,
			})
		}
	}
	if len(links) == 0 {
		return nil
	}
	return links
}

// merge adds another reference to the same URL.
func (l *Link) merge(r *reference) {
	l.Kinds |= r.kinds
	l.Unmarked |= r.unmarked
	l.NoFollow = l.Unmarked == 0
	if l.Text == "" {
		l.Text = r.text
	}
	if l.Rel == "" {
		l.Rel = r.rel
	}
}
