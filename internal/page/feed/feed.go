// Package feed reads feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0 (RFC 4287), JSON Feed 1
// (jsonfeed.org), with the elements of Dublin Core and iTunes that feeds use instead of the
// standard ones.
//
// It returns one Feed for a body in any of these formats: the feed's own description, and the title
// and page of each item. URLs are absolute and canonical, resolved against xml:base and the URL of
// the feed. URLs other than http and https are omitted. Titles are plain text. The package
// tolerates common errors (package xmlstream) and counts them. For a truncated feed it returns the
// items before the truncation. github.com/mmcdole/gofeed would read more of a valid feed, but it
// returns nothing for a truncated one, and does not limit items or memory.
//
// Memory and time are bounded by the limits below for any feed, and linear in its length.
package feed

import (
	"bytes"
	"errors"
	"fmt"

	"seine/internal/base/weburl"
)

// Limits of a feed. Real feeds are far below; an archive of ten years of a blog has some thousand
// items and 20 MB.
const (
	MaxBytes = 32 << 20 // maximum number of bytes read
	MaxItems = 10_000
	maxValue = 1 << 20 // bytes of a title or another value
	maxURL   = 8 << 10
)

// ErrNoFeed is returned for a document that is not a feed.
var ErrNoFeed = errors.New("not a feed")

// Feed is a feed of any format. Missing values are "".
type Feed struct {
	Title       string
	Description string
	// Link is the page that the feed belongs to.
	Link     string
	Language string
	Items    []Item
	// Cut is set if the feed exceeded a limit.
	Cut bool
	// Repairs is the number of places that were not valid XML, and were read nevertheless.
	Repairs int
}

// Item is an entry of a feed. Missing values are "".
type Item struct {
	URL   string
	Title string
}

// Parse reads the feed that was found at pageURL with this Content-Type. If the feed has an error,
// it returns the items before it, and the error. It returns ErrNoFeed if the document is not a
// feed.
func Parse(body []byte, contentType, pageURL string) (*Feed, error) {
	base, err := weburl.NewBase(pageURL)
	if err != nil {
		return nil, fmt.Errorf("feed at %q: %w", pageURL, err)
	}
	return read(body, contentType, urlBase{base, pageURL}, MaxBytes)
}

// read reads the feed up to a limit of bytes.
func read(body []byte, contentType string, at urlBase, limit int) (*Feed, error) {
	cut := len(body) > limit
	f, err := parse(body[:min(len(body), limit)], contentType, at)
	if f == nil {
		return nil, fmt.Errorf("%w: %w", ErrNoFeed, err)
	}
	if cut {
		f.Cut, err = true, nil
	}
	if err != nil {
		return f, fmt.Errorf("read feed: %w", err)
	}
	return f, nil
}

func parse(body []byte, contentType string, at urlBase) (*Feed, error) {
	if start := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n"); len(start) > 0 && start[0] == '{' {
		return parseJSON(start, at)
	}
	return parseXML(body, contentType, at)
}

// urlBase is the base for resolving references.
type urlBase struct {
	base *weburl.Base
	url  string
}

// resolve returns the URL of a reference, or "" if it cannot be fetched.
func (p urlBase) resolve(ref string) string {
	if ref == "" || len(ref) > maxURL {
		return ""
	}
	u, err := p.base.Resolve(weburl.EscapeInvalid(ref))
	if err != nil {
		return ""
	}
	return u
}

// within returns the base that a nested base reference leads to, or this one if the reference is
// not a URL.
func (p urlBase) within(ref string) urlBase {
	u := p.resolve(ref)
	if u == "" || u == p.url {
		return p
	}
	base, err := weburl.NewBase(u)
	if err != nil {
		return p
	}
	return urlBase{base, u}
}
