// Package feed reads feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0 (RFC 4287), JSON
// Feed 1 (jsonfeed.org), with the elements of Dublin Core, content, iTunes and Media
// RSS that feeds use in place of their own.
//
// It takes a body as it came and gives one Feed, whatever the format. URLs are
// absolute and canonical, resolved by xml:base and the URL of the feed; those that
// are neither http nor https are left out. Titles and names are plain text, summaries
// and contents HTML as it is written. It is lenient where people err (package
// xmlstream), and counts that. A feed that breaks off gives the items it had until
// there.
//
// The reader is bounded in memory and time by the limits below, however a feed is
// made, and linear in its length.
package feed

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"seine/internal/base/weburl"
)

// Limits of a feed. Real feeds stay far below; an archive of ten years of a blog has
// some thousand items and 20 MB.
const (
	MaxBytes = 32 << 20 // read of a body
	MaxItems = 10_000
	maxValue = 1 << 20 // bytes of a title, a content or another value
	maxURL   = 8 << 10
	maxList  = 100 // links, categories or enclosures of an item or a feed
)

// ErrNoFeed says that a document is no feed.
var ErrNoFeed = errors.New("it is no feed")

// Feed is a feed of any format.
type Feed struct {
	Format      Format
	Title       string
	Description string
	// Link is the page that the feed belongs to.
	Link     string
	Language string
	Updated  time.Time
	// Links are all the links of the feed, in their order: of the page, of the feed
	// itself, of further parts of it and of hubs that tell of news.
	Links []Link
	Items []Item
	// Cut says that there was more than is read.
	Cut bool
	// Repairs is how many places were not XML, and were read all the same.
	Repairs int
}

// Format is a family of formats.
type Format string

// The formats.
const (
	RSS  Format = "rss"
	Atom Format = "atom"
	JSON Format = "json"
)

// Link is a link of a feed or an item.
type Link struct {
	// Rel says what for: alternate, self, next, prev, hub and others (RFC 4287
	// section 4.2.7.2, RFC 5005); in lower case.
	Rel  string
	URL  string
	Type string
}

// Item is an entry of a feed. What it does not say is "" or zero.
type Item struct {
	ID         string
	URL        string
	Title      string
	Summary    string
	Content    string
	Author     string // several are separated by ", "
	Published  time.Time
	Updated    time.Time
	Categories []string
	Enclosures []Enclosure
	Links      []Link
	// Base is what relative links in Summary and Content are relative to.
	Base string
}

// Enclosure is a file that belongs to an item.
type Enclosure struct {
	URL  string
	Type string
	// Length is in bytes, 0 if it is not said.
	Length int64
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

// link adds a link.
func link(links []Link, l Link) []Link {
	if l.URL == "" || len(links) >= maxList {
		return links
	}
	return append(links, l)
}

// first returns the first link of a relation.
func first(links []Link, rel string) string {
	found := ""
	for _, l := range links {
		switch {
		case l.Rel != rel:
		case l.Type == "" || l.Type == "text/html" || l.Type == "application/xhtml+xml":
			return l.URL
		case found == "":
			found = l.URL
		}
	}
	return found
}
