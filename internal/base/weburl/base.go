package weburl

import (
	"strings"
	"sync"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// Base is the URL that a document's references are resolved against. It is safe
// for concurrent use.
type Base struct {
	url    string // canonical
	scheme string // "http" or "https"

	// Offsets in url: the path begins at its slash, dir is behind the path's
	// last slash, and query is at the "?" or, without a query, at the end.
	path, dir, query int

	// parsed returns the base for the slow path, parsed at first need: most
	// documents never have it.
	parsed func() (*whatwg.Url, error)
}

// NewBase prepares a URL, canonical or not, for resolving references. It fails
// where [Canonicalize] does.
func NewBase(canonicalOrRaw string) (*Base, error) {
	u, err := Canonicalize(canonicalOrRaw)
	if err != nil {
		return nil, err
	}
	b := &Base{url: u, query: len(u)}
	host, path := bounds(u)
	b.scheme, b.path = u[:host-len("://")], path
	if i := strings.IndexByte(u, '?'); i >= 0 {
		b.query = i
	}
	b.dir = 1 + strings.LastIndexByte(u[:b.query], '/')
	b.parsed = sync.OnceValues(b.parse)
	return b, nil
}

// URL returns the canonical form of the base.
func (b *Base) URL() string { return b.url }

// Resolve resolves a reference, such as the value of a href attribute, and
// returns its canonical form. It may return ref itself when that is canonical
// already.
//
// Errors wrap [ErrInvalid], [ErrScheme] or [ErrTooLong] and quote the
// reference.
func (b *Base) Resolve(ref string) (string, error) {
	text := strip(ref)
	if text == "" {
		return b.url, nil
	}
	colon, err := examine(text)
	if err != nil {
		return "", err
	}
	u, ok := b.fastResolve(text, colon)
	if !ok {
		u, err = slow(b, text)
	}
	return bounded(u, text, err)
}
