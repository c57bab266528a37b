package htmlpage

import (
	"bytes"

	"seine/internal/weburl"
)

// reference is a link as written, waiting for the whole document to be read:
// a base element applies to what stands before it, too (section 4.2.3).
type reference struct {
	ref      string // without fragment
	kind     Kind
	noFollow bool
}

// maxPooled bounds the maps kept for reuse: clearing a map costs its capacity,
// which one page with many links must not make every later page pay.
const maxPooled = 1 << 10

// linkSet collects the links of a page, each once.
type linkSet struct {
	refs  []reference
	byRef map[string]int
	byURL map[string]int
	limit int
}

// reset empties the set. Up to twice the links asked for are collected, as some
// will not resolve or turn out the same: only a page with more distinct ones
// than that can yield fewer than it has.
func (s *linkSet) reset(maxLinks int) {
	s.limit = 2 * maxLinks
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

// add notes a link with its attribute value decoded. The fragment goes first:
// in an http URL it starts at the first "#" (URL standard section 4.4), it
// names a place and not a page, and without it most references repeat.
func (s *linkSet) add(ref []byte, kind Kind, noFollow bool) {
	if i := bytes.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	ref = trimSpace(ref)
	if len(ref) > maxRef {
		return
	}
	if i, ok := s.byRef[string(ref)]; ok {
		s.refs[i].noFollow = s.refs[i].noFollow && noFollow
		return
	}
	if len(s.refs) >= s.limit {
		return
	}
	r := reference{ref: string(ref), kind: kind, noFollow: noFollow}
	s.byRef[r.ref] = len(s.refs)
	s.refs = append(s.refs, r)
}

// resolve returns the links as URLs, at most maxLinks, without self. What does
// not resolve to a URL worth fetching (mailto:, javascript:, …) is no link.
func (s *linkSet) resolve(base *weburl.Base, self string, maxLinks int) []Link {
	if len(s.refs) == 0 {
		return nil
	}
	links := make([]Link, 0, min(len(s.refs), maxLinks))
	for _, r := range s.refs {
		u, err := base.Resolve(r.ref)
		if err != nil || u == self {
			continue
		}
		if i, ok := s.byURL[u]; ok {
			links[i].NoFollow = links[i].NoFollow && r.noFollow
			continue
		}
		if len(links) < maxLinks {
			s.byURL[u] = len(links)
			links = append(links, Link{URL: u, Kind: r.kind, NoFollow: r.noFollow})
		}
	}
	if len(links) == 0 {
		return nil
	}
	return links
}
