// Package sitemap reads sitemaps and sitemap indexes of the sitemaps.org protocol: XML, plain or
// compressed with gzip, with the extensions for news, images, videos and languages; and lists of
// URLs as text. It tolerates common errors (wrong or missing namespaces, blanks around URLs, bare
// ampersands), and reads only a limited part of a file.
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

// Limits of a sitemap. The protocol says 50,000 URLs and 50 MiB; slightly larger files are read
// too.
const (
	MaxEntries = 100_000
	MaxBytes   = 64 << 20
	maxURL     = 8 << 10
)

// ErrNotSitemap is returned for a document that is not a sitemap.
var ErrNotSitemap = errors.New("not a sitemap")

// Sitemap is the content of a file.
type Sitemap struct {
	Index      bool    `json:"index"` // the entries are sitemaps, not pages
	Entries    []Entry `json:"entries"`
	Cut        bool    `json:"-"` // the file exceeded a limit
	Unreadable int     `json:"-"` // entries without a URL, or with a URL that is too long
	Repairs    int     `json:"-"` // places that were not valid XML, and were read nevertheless
}

// Entry is one URL, as written. Its JSON form is the one that rules see.
type Entry struct {
	URL        string          `json:"url"                  xml:"loc"`
	Priority   Priority        `json:"priority,omitzero"    xml:"priority"`
	Modified   time.Time       `json:"modified,omitzero"    xml:"-"`          // when the page last changed
	ChangeFreq Text            `json:"changefreq,omitempty" xml:"changefreq"` // always, hourly, daily, weekly, monthly, yearly or never
	Alternates List[Alternate] `json:"alternates,omitempty" xml:"link"`
	News       *News           `json:"news,omitempty"       xml:"news"` // if the page is an article
	Images     List[Image]     `json:"images,omitempty"     xml:"image"`
	Videos     List[Video]     `json:"videos,omitempty"     xml:"video"`

	LastMod Time `json:"-" xml:"lastmod"` // source of Modified
}

// Parse reads a sitemap. contentType is its response's, or "". For a truncated file, it returns the
// entries before the truncation, and an error. It returns ErrNotSitemap if the document is not a
// sitemap.
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

// unzipped returns a body, decompressed if needed, up to MaxBytes. cut means that there is more.
// With an error it returns the data before the error.
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

// read reads the entries of a file. It returns nil if the file is not a sitemap.
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
