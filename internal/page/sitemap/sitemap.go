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
	"regexp"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/contentcoding"
	"seine/internal/base/dates"
	"seine/internal/base/truncate"
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
var ErrNotSitemap = errors.New("it is no sitemap")

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
	URL        string      `json:"url"`
	Priority   Priority    `json:"priority,omitzero"`
	Modified   time.Time   `json:"modified,omitzero"`    // when the page last changed
	ChangeFreq string      `json:"changefreq,omitempty"` // always, hourly, daily, weekly, monthly, yearly or never
	Alternates []Alternate `json:"alternates,omitempty"`
	News       *News       `json:"news,omitempty"` // if the page is an article
	Images     []Image     `json:"images,omitempty"`
	Videos     []Video     `json:"videos,omitempty"`
}

// Priority is from 0 to 1, beside other pages of the site; -1 if the file has none.
type Priority float64

// IsZero reports whether the file has no priority.
func (p Priority) IsZero() bool { return p < 0 }

// Alternate is the same page in another language, such as "de-AT" or "x-default"; "" if the file has none.
type Alternate struct {
	URL      string `json:"url"`
	Language string `json:"language,omitempty"`
}

// Parse reads the sitemap that came with a Content-Type, or "". It returns what it
// found before the file broke off, together with an error that says so; ErrNotSitemap if
// there is no sitemap at all.
func Parse(body []byte, contentType string) (*Sitemap, error) {
	body, cut, broken := unzipped(body)
	p := &parser{d: xmlstream.NewDecoder(body, contentType, "url", "sitemap", "loc")}
	err := p.run()
	if p.site == nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSitemap, errors.Join(err, broken))
	}
	p.site.Repairs = p.d.Repairs()
	if cut {
		p.site.Cut, err = true, nil
	}
	if err = errors.Join(broken, err); err != nil {
		return p.site, fmt.Errorf("read sitemap: %w", err)
	}
	return p.site, nil
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

// parser follows the elements of a file.
type parser struct {
	d     *xmlstream.Decoder
	site  *Sitemap
	junk  int      // elements before the first that is one of ours
	path  []string // local names of the open elements, from that on
	entry Entry
	extra extra
	text  strings.Builder
}

var errRoot = errors.New("it has neither a urlset nor a sitemapindex")

func (p *parser) run() error {
	for {
		t, err := p.d.Token()
		switch {
		case errors.Is(err, io.EOF) && p.site == nil:
			return errRoot
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := p.open(t); err != nil {
				return err
			}
		case xml.EndElement:
			p.close()
		case xml.CharData:
			if p.text.Len() < maxURL {
				p.text.Write(t)
			}
		}
		if p.site != nil && len(p.site.Entries) >= MaxEntries {
			p.site.Cut = true
			return nil
		}
	}
}

func (p *parser) open(t xml.StartElement) error {
	name := t.Name.Local
	if p.site == nil {
		if name != "urlset" && name != "sitemapindex" {
			if p.junk++; p.junk > xmlstream.MaxJunk {
				return errRoot
			}
			return nil
		}
		p.site = &Sitemap{Index: name == "sitemapindex"}
	}
	p.path = append(p.path, name)
	p.text.Reset()
	switch {
	case len(p.path) == 2:
		p.entry = Entry{Priority: -1}
	case len(p.path) != 3:
	case name == "link":
		p.alternate(t.Attr)
	default:
		p.extra.open(&p.entry, name)
	}
	return nil
}

func (p *parser) alternate(attrs []xml.Attr) {
	rel, href, language := "", "", ""
	for _, a := range attrs {
		switch a.Name.Local {
		case "rel":
			rel = a.Value
		case "href":
			href = weburl.EscapeInvalid(strings.TrimSpace(a.Value))
		case "hreflang":
			language = truncate.To(strings.TrimSpace(a.Value), maxExtraText)
		}
	}
	if strings.EqualFold(rel, "alternate") && href != "" && len(href) <= maxURL && len(p.entry.Alternates) < maxAlternates {
		p.entry.Alternates = append(p.entry.Alternates, Alternate{href, language})
	}
}

func (p *parser) close() {
	if len(p.path) == 0 {
		return
	}
	name, depth := p.path[len(p.path)-1], len(p.path)
	p.path = p.path[:depth-1]
	text := strings.TrimSpace(p.text.String())
	p.text.Reset()
	switch {
	case depth == 3 && p.extra.close(&p.entry):
	case depth > 3:
		p.extra.setField(p.path[2:], name, text)
	case depth == 2 && (name == "url" || name == "sitemap"):
		if p.entry.URL == "" {
			p.site.Unreadable++
			return
		}
		p.site.Entries = append(p.site.Entries, p.entry)
	case depth != 3 || text == "":
	case name == "loc" && len(text) < maxURL:
		p.entry.URL = weburl.EscapeInvalid(text)
	case name == "priority":
		if f, err := strconv.ParseFloat(text, 64); err == nil && f >= 0 && f <= 1 {
			p.entry.Priority = Priority(f)
		}
	case name == "lastmod":
		p.entry.Modified = parseTime(text)
	case name == "changefreq":
		p.entry.ChangeFreq = frequency(text)
	}
}

// parseTime reads a date and time, zero if the text is not a date. The profile of ISO 8601
// for the web has years and months, too.
func parseTime(text string) time.Time {
	if shortDate.MatchString(text) {
		text += "-01-01"[:len(time.DateOnly)-len(text)]
	}
	d, _ := dates.Parse(text, time.UTC)
	return d.Time
}

var shortDate = regexp.MustCompile(`^[0-9]{4}(?:-[0-9]{2})?$`)
