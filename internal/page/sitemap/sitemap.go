// Package sitemap reads sitemaps and indexes of sitemaps, by the protocol of
// sitemaps.org: XML, plain or in gzip, with the extensions for news, images, videos
// and languages; and lists of URLs as text. It is lenient where people err
// (namespaces that are wrong or missing, blanks around URLs, bare ampersands), and
// bounded in what it takes from a file.
package sitemap

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"seine/internal/base/contentcoding"
	"seine/internal/base/weburl"
	"seine/internal/page/xmlstream"
)

// Limits of a sitemap. The protocol says 50,000 URLs and 50 MiB; a file that has
// somewhat more is read all the same.
const (
	MaxEntries = 100_000
	MaxBytes   = 64 << 20
	maxURL     = 8 << 10
)

// ErrNotSitemap says that a document is no sitemap.
var ErrNotSitemap = errors.New("not a sitemap")

// Sitemap is what a file lists.
type Sitemap struct {
	Index      bool    `json:"index"` // the entries are sitemaps, not pages
	Entries    []Entry `json:"entries"`
	Cut        bool    `json:"-"` // there was more than is read
	Unreadable int     `json:"-"` // entries without a URL, or with one that is too long
	Repairs    int     `json:"-"` // places that were not XML, and were read all the same
}

// Entry is one URL, as it is written. Its form in JSON is that of rules.
type Entry struct {
	URL        string          `json:"url"                  xml:"loc"`
	Priority   Priority        `json:"priority,omitzero"    xml:"priority"`
	Modified   time.Time       `json:"modified,omitzero"    xml:"-"`          // when the page last changed
	ChangeFreq Text            `json:"changefreq,omitempty" xml:"changefreq"` // always, hourly, daily, weekly, monthly, yearly or never
	Alternates List[Alternate] `json:"alternates,omitempty" xml:"link"`
	News       *News           `json:"news,omitempty"       xml:"news"` // if the page is an article
	Images     List[Image]     `json:"images,omitempty"     xml:"image"`
	Videos     List[Video]     `json:"videos,omitempty"     xml:"video"`

	LastMod Time `json:"-" xml:"lastmod"` // for Modified
}

// Parse reads the sitemap that came with a Content-Type, or "". It returns what it
// found before the file broke off, together with an error; ErrNotSitemap if
// there is no sitemap at all.
func Parse(body []byte, contentType string) (*Sitemap, error) {
	body, cut, broken := unzipped(body)
	stream := xmlstream.NewDecoder(body, contentType, "url", "sitemap", "loc")
	site, err := read(xml.NewTokenDecoder(stream))
	if site == nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSitemap, errors.Join(err, broken))
	}
	site.Repairs = stream.Repairs()
	if cut {
		site.Cut, err = true, nil
	}
	if err = errors.Join(broken, err); err != nil {
		return site, fmt.Errorf("read sitemap: %w", err)
	}
	return site, nil
}

// unzipped returns a body, or what is in it, up to MaxBytes: cut says that there is
// more. With an error it is what came before that.
func unzipped(body []byte) (text []byte, cut bool, err error) {
	if !bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return body[:min(len(body), MaxBytes)], len(body) > MaxBytes, nil
	}
	z := contentcoding.NewReader(bytes.NewReader(body), []string{"gzip"}, 1000)
	defer func() { _ = z.Close() }()
	text, err = io.ReadAll(io.LimitReader(z, MaxBytes+1))
	return text[:min(len(text), MaxBytes)], len(text) > MaxBytes, err
}

var errRoot = errors.New("it has neither a urlset nor a sitemapindex")

// read reads the entries of a file, nil if it is not a sitemap.
func read(d *xml.Decoder) (site *Sitemap, err error) {
	junk := 0 // elements before the root
	for {
		t, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && site == nil:
			return nil, errRoot
		case errors.Is(err, io.EOF):
			return site, nil
		case err != nil:
			return site, err
		}
		start, _ := t.(xml.StartElement)
		switch name := start.Name.Local; {
		case name == "":
		case site == nil && (name == "urlset" || name == "sitemapindex"):
			site = &Sitemap{Index: name == "sitemapindex"}
		case site == nil:
			if junk++; junk > xmlstream.MaxJunk {
				return nil, errRoot
			}
		case name == "url" || name == "sitemap":
			e := Entry{Priority: -1}
			if err := d.DecodeElement(&e, &start); err != nil {
				return site, err
			}
			site.add(&e)
			if len(site.Entries) >= MaxEntries {
				site.Cut = true
				return site, nil
			}
		}
	}
}

// add adds an entry if it has a URL.
func (s *Sitemap) add(e *Entry) {
	e.URL = weburl.EscapeInvalid(strings.TrimSpace(e.URL))
	if e.URL == "" || len(e.URL) >= maxURL {
		s.Unreadable++
		return
	}
	e.clean()
	s.Entries = append(s.Entries, *e)
}
