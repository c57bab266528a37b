package main

import (
	"errors"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// page is what was read of one answer.
type page struct {
	url    *url.URL // after redirects
	status int
	html   bool
	title  string
	base   string   // href of the first base element
	links  []string // as written, entities decoded
	bytes  int64
}

// read takes title and links out of HTML.
func (p *page) read(body io.Reader) error {
	z := html.NewTokenizer(body)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if errors.Is(z.Err(), io.EOF) {
				return nil
			}
			return z.Err()
		case html.StartTagToken, html.SelfClosingTagToken:
			p.startTag(z)
		}
	}
}

func (p *page) startTag(z *html.Tokenizer) {
	name, more := z.TagName()
	switch atom.Lookup(name) {
	case atom.Title:
		if p.title == "" && z.Next() == html.TextToken {
			p.title = strings.TrimSpace(html.UnescapeString(string(z.Text())))
		}
	case atom.Base:
		if p.base == "" {
			p.base = attribute(z, more, "href")
		}
	case atom.A, atom.Area:
		p.link(attribute(z, more, "href"))
	case atom.Frame, atom.Iframe:
		p.link(attribute(z, more, "src"))
	}
}

func (p *page) link(ref string) {
	if ref != "" {
		p.links = append(p.links, ref)
	}
}

func attribute(z *html.Tokenizer, more bool, want string) string {
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) == want {
			return string(value)
		}
	}
	return ""
}

// targets resolves the links to URLs of the same host and port, without fragments. A page may name one more than once.
func (p *page) targets() []string {
	base := p.url
	if b, err := base.Parse(strings.TrimSpace(p.base)); err == nil && p.base != "" {
		base = b
	}
	urls := make([]string, 0, len(p.links))
	for _, ref := range p.links {
		u, err := base.Parse(strings.TrimSpace(ref))
		if err != nil || u.Scheme != p.url.Scheme || u.Host != p.url.Host {
			continue
		}
		u.Fragment, u.RawFragment = "", ""
		urls = append(urls, u.String())
	}
	return urls
}
