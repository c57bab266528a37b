// Package htmltree reads the links and the text of an HTML page from its complete DOM, by the
// definitions of package htmlpage. It is the slow reference for the fast implementation. The tree
// comes from golang.org/x/net/html, which implements the tree construction of the standard; goquery
// finds the links.
//
// It is for tests and measurements. It shares with htmlpage only the decoding of the page and the
// resolution of URLs.
package htmltree

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"seine/internal/base/weburl"
	"seine/internal/page/charset"
	"seine/internal/page/htmlpage"
)

// Page is the content that was found.
type Page struct {
	Links []htmlpage.Link // with URL, Kind and NoFollow
	Text  string          // with single spaces between words, across blocks too
}

// Read reads a page as [htmlpage.Scan] does by default, with scripting off.
func Read(body []byte, pageURL, contentType string) (*Page, error) {
	text, encoding := charset.Decode(body, contentType)
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", pageURL, err)
	}
	page, err := weburl.NewBase(pageURL)
	if err != nil {
		return nil, err
	}
	doc := goquery.NewDocumentFromNode(root)
	l := links{page: page, base: page, encoding: encoding, seen: make(map[string]int)}
	l.setBase(doc)
	l.collect(doc)
	return &Page{Links: l.found, Text: Text(root)}, nil
}

// links collects the links of a page.
type links struct {
	page, base *weburl.Base
	encoding   charset.Encoding
	found      []htmlpage.Link
	seen       map[string]int
	refreshed  bool
}

// inDocument leaves out elements in a template, which are not in the document.
func inDocument(s *goquery.Selection) *goquery.Selection {
	return s.FilterFunction(func(_ int, e *goquery.Selection) bool {
		return e.ParentsFiltered("template").Length() == 0
	})
}

func (l *links) setBase(doc *goquery.Document) {
	href, ok := inDocument(doc.Find("base[href]")).First().Attr("href")
	if !ok {
		return
	}
	u, err := l.page.Resolve(l.encoding.Reference(strings.Trim(href, "\t\n\f\r ")))
	if err != nil {
		return
	}
	if base, err := weburl.NewBase(u); err == nil {
		l.base = base
	}
}

// sources selects the elements that may be links, with their URL attributes.
const sources = "a[href], area[href], frame[src], iframe[src], link[href], meta[http-equiv][content]"

func (l *links) collect(doc *goquery.Document) {
	inDocument(doc.Find(sources)).Each(func(_ int, e *goquery.Selection) {
		rel := " " + strings.ToLower(strings.Join(strings.FieldsFunc(e.AttrOr("rel", ""), isSeparator), " ")) + " "
		switch name := goquery.NodeName(e); name {
		case "a":
			l.add(e.AttrOr("href", ""), htmlpage.KindAnchor, rel)
		case "area":
			l.add(e.AttrOr("href", ""), htmlpage.KindArea, rel)
		case "frame", "iframe":
			l.addNonEmpty(e.AttrOr("src", ""), htmlpage.KindFrame, "")
		case "link":
			if kind, ok := kindOfLink(e, rel); ok {
				l.addNonEmpty(e.AttrOr("href", ""), kind, rel)
			}
		case "meta":
			l.addRefresh(e)
		}
	})
}

func isSeparator(r rune) bool { return strings.ContainsRune("\t\n\f\r ,", r) }

func kindOfLink(e *goquery.Selection, rel string) (htmlpage.Kind, bool) {
	_, translated := e.Attr("hreflang")
	switch {
	case strings.Contains(rel, " canonical "):
		return htmlpage.KindCanonical, true
	case strings.Contains(rel, " next "):
		return htmlpage.KindNext, true
	case strings.Contains(rel, " prev "), strings.Contains(rel, " previous "):
		return htmlpage.KindPrev, true
	case strings.Contains(rel, " alternate ") && translated && !strings.Contains(rel, " stylesheet "):
		return htmlpage.KindAlternate, true
	}
	return 0, false
}

// addRefresh adds the target of a refresh of the usual form, "seconds; url=…".
func (l *links) addRefresh(e *goquery.Selection) {
	if l.refreshed || !strings.EqualFold(e.AttrOr("http-equiv", ""), "refresh") {
		return
	}
	_, ref, found := strings.Cut(e.AttrOr("content", ""), ";")
	if ref = strings.TrimSpace(ref); found && len(ref) > 4 && strings.EqualFold(ref[:4], "url=") {
		l.refreshed = true
		l.add(strings.Trim(ref[4:], `"'`), htmlpage.KindRefresh, "")
	}
}

func (l *links) addNonEmpty(ref string, kind htmlpage.Kind, rel string) {
	if strings.TrimSpace(ref) != "" {
		l.add(ref, kind, rel)
	}
}

func (l *links) add(ref string, kind htmlpage.Kind, rel string) {
	ref, _, _ = strings.Cut(ref, "#")
	u, err := l.base.Resolve(l.encoding.Reference(ref))
	if err != nil {
		return
	}
	if self, err := l.page.Resolve(""); err == nil && u == self {
		return
	}
	noFollow := strings.Contains(rel, " nofollow ") || strings.Contains(rel, " ugc ") || strings.Contains(rel, " sponsored ")
	if i, ok := l.seen[u]; ok {
		l.found[i].NoFollow = l.found[i].NoFollow && noFollow
		return
	}
	l.seen[u] = len(l.found)
	l.found = append(l.found, htmlpage.Link{URL: u, Kind: kind, NoFollow: noFollow})
}
