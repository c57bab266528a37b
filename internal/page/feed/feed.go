// Package feed reads feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0 (RFC 4287), JSON
// Feed 1 (jsonfeed.org), with the elements of Dublin Core and iTunes that feeds use in
// place of the standard ones.
//
// It takes a body as it came and gives one Feed, whatever the format: what the feed says
// of itself, and the title and the page of each item. URLs are absolute and canonical,
// resolved by xml:base and the URL of the feed; those that are neither http nor https
// are left out. Titles are plain text. It is lenient where people err (package
// xmlstream), and counts that. A feed that breaks off gives the items it had until
// there. github.com/mmcdole/gofeed would read more of a sound feed, but it gives nothing
// of one that breaks off, and has no limit of items or memory.
//
// The reader is bounded in memory and time by the limits below, however a feed is
// made, and linear in its length.
package feed

import (
	"bytes"
	"errors"
	"fmt"

	"seine/internal/base/weburl"
)

// Limits of a feed. Real feeds stay far below; an archive of ten years of a blog has
// some thousand items and 20 MB.
const (
	MaxBytes = 32 << 20 // read of a body
	MaxItems = 10_000
	maxValue = 1 << 20 // bytes of a title or another value
	maxURL   = 8 << 10
)

// ErrNoFeed says that a document is no feed.
var ErrNoFeed = errors.New("not a feed")

// Feed is a feed of any format. What it does not say is "".
type Feed struct {
	Title       string
	Description string
	// Link is the page that the feed belongs to.
	Link     string
	Language string
	Items    []Item
	// Cut says that there was more than is read.
	Cut bool
	// Repairs is how many places were not XML, and were read all the same.
	Repairs int
}

// Item is an entry of a feed. What it does not say is "".
type Item struct {
	URL   string
	Title string
}

// Parse reads the feed that was found at pageURL with that Content-Type. It returns
// what it found before an error in the feed, together with that; ErrNoFeed if there is
// no feed at all.
func Parse(body []byte, contentType, pageURL string) (*Feed, error) {
	base, err := weburl.NewBase(pageURL)
	if err != nil {
		return nil, fmt.Errorf("feed at %q: %w", pageURL, err)
	}
	return read(body, contentType, urlBase{base, pageURL}, MaxBytes)
}

// read reads the feed up to a limit.
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

// urlBase is where references are resolved.
type urlBase struct {
	base *weburl.Base
	url  string
}

// resolve returns the URL of a reference, "" if it is none that can be fetched.
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

// within returns the place that a base given here leads to, this one if it is no URL.
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
