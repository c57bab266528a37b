package convert

import (
	"bytes"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/htmlpage"
)

// epub reads a book (EPUB 3.3): its chapters in the order of its spine.
type epub struct{ *archive }

func (p epub) read() error {
	if bytes.Contains(p.open("META-INF/encryption.xml"), []byte("xmlenc#aes")) {
		return fail(Encrypted, "it needs a license")
	}
	packed := ""
	p.elements(p.open("META-INF/container.xml"), func(e *element) {
		if e.name() == "rootfile" && packed == "" {
			packed = e.attr("full-path")
		}
	}, nil, nil)
	b := p.open(packed)
	if b == nil {
		return fail(Damaged, "its package document is missing")
	}
	p.properties(b, map[string]*string{
		"title": &p.title, "creator": &p.author, "description": &p.description, "language": &p.language, "date": &p.created, "dcterms:modified": &p.modified,
	})
	files := make(map[string]string)
	var chapters []string
	p.elements(b, func(e *element) {
		switch e.name() {
		case "item":
			if href, err := url.PathUnescape(e.attr("href")); err == nil && len(files) < maxEntries {
				files[e.attr("id")] = path.Join(path.Dir(packed), href)
			}
		case "itemref":
			if len(chapters) < maxEntries {
				chapters = append(chapters, files[e.attr("idref")])
			}
		}
	}, nil, nil)
	for _, name := range chapters {
		if b := p.open(name); b != nil && !p.full && p.ctx.Err() == nil {
			p.chapter(htmlpage.FromXML(b))
		}
	}
	return nil
}

// chapter writes the body of a page: its elements with few of their attributes.
func (p epub) chapter(b []byte) {
	z := html.NewTokenizer(bytes.NewReader(b))
	z.SetMaxBuf(maxEntry)
	inBody, unread := false, ""
	for kind := z.Next(); kind != html.ErrorToken && !p.full; kind = z.Next() {
		t := z.Token()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			switch {
			case t.DataAtom == atom.Body:
				inBody = true
			case t.DataAtom == atom.Script || t.DataAtom == atom.Style:
				unread = t.Data
			case inBody && unread == "" && known(t):
				p.tag(plain(t))
			}
		case html.EndTagToken:
			switch {
			case t.Data == unread:
				unread = ""
			case t.DataAtom == atom.Body:
				inBody = false
			case inBody && unread == "" && known(t):
				p.tag(t.String())
			}
		case html.TextToken:
			if inBody && unread == "" {
				p.text(t.Data)
			}
		}
	}
}

// known reports whether an element may be part of the page: a standard HTML element for content.
func known(t html.Token) bool {
	switch t.DataAtom {
	case 0, atom.Html, atom.Head, atom.Section, atom.Iframe, atom.Object, atom.Embed, atom.Link, atom.Meta, atom.Base, atom.Title, atom.Template, atom.Plaintext, atom.Textarea, atom.Noscript:
		return false
	}
	return true
}

// plain returns a start tag with only the attributes that its text needs, and for links only URLs
// outside the book.
func plain(t html.Token) string {
	var kept []html.Attribute
	for _, a := range t.Attr {
		switch a.Key {
		case "alt", "colspan", "rowspan", "lang":
			kept = append(kept, a)
		case "href":
			if absolute().MatchString(a.Val) {
				kept = append(kept, a)
			}
		case "class":
			if t.DataAtom == atom.Code || t.DataAtom == atom.Pre || strings.HasPrefix(a.Val, "math") {
				kept = append(kept, a)
			}
		}
	}
	t.Attr = kept
	return t.String()
}
