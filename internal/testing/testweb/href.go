package testweb

import (
	"bytes"
	"strings"
)

// link writes the next link as an <a> element, in one of the many notations that HTML and RFC 3986
// allow.
func (p *page) link() {
	l := p.links[p.next]
	p.next++
	var buf [128]byte
	path := p.site.appendTarget(buf[:0], l)

	switch p.r.intn(16) {
	case 0:
		p.str("<A\n  CLASS=x HREF='")
		p.href(l, path)
		p.str("'")
	case 1:
		p.str(`<a title="a > b" href="`)
		p.href(l, path)
		p.str(`"`)
	case 2:
		p.str("<a href=\" \n")
		p.href(l, path)
		p.str("\t\"")
	default:
		p.str(`<a href="`)
		p.href(l, path)
		p.str(`"`)
	}
	if l.nofollow {
		p.str(` rel="nofollow noopener"`)
	}
	p.str(">")
	p.phrase(2)
	p.str("</a>")
}

// href writes the reference: in full for another host, else relative, absolute or in full.
func (p *page) href(l link, path []byte) {
	if l.host != p.host {
		p.authority("http:", p.site.name(l.host)+p.port)
		p.escaped(path)
		return
	}
	switch n := p.r.intn(20); {
	case n < 3:
		p.authority("http:", p.base)
		p.escaped(path)
	case n < 4:
		p.authority("", p.base)
		p.escaped(path)
	case n < 9:
		p.relative(path)
	default:
		p.escaped(path)
	}
	if p.r.intn(10) == 0 {
		p.str("#")
		p.str(p.word())
	}
}

func (p *page) authority(scheme, hostport string) {
	p.str(scheme)
	p.str("//")
	p.str(hostport)
}

// relative writes the path relative to the page's folder.
func (p *page) relative(path []byte) {
	if p.depth == 0 || p.r.intn(4) == 0 {
		p.str("./")
	}
	for range p.depth {
		p.str("../")
	}
	p.escaped(path[1:])
}

// escaped writes a path into an attribute: "&" as one of its entities, and sometimes an unescaped
// letter, which the client has to escape.
func (p *page) escaped(path []byte) {
	if i := bytes.IndexByte(path, '&'); i >= 0 {
		p.b = append(p.b, path[:i]...)
		p.str([...]string{"&amp;", "&#38;", "&#x26;", "&"}[p.r.intn(4)])
		path = path[i+1:]
	} else if i := bytes.Index(path, []byte("%C3%A9")); i >= 0 && p.r.intn(2) == 0 {
		p.b = append(p.b, path[:i]...)
		p.str([...]string{"\u00e9", "&eacute;"}[p.r.intn(2)])
		path = path[i+len("%C3%A9"):]
	}
	p.b = append(p.b, path...)
}

// depthOf counts the folders of a path without its query.
func depthOf(path []byte) int {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	return bytes.Count(path, []byte("/")) - 1
}

// portOf returns the ":port" of a host and port, or "".
func portOf(hostport string) string {
	i := strings.LastIndexByte(hostport, ':')
	if i < 0 || strings.HasSuffix(hostport, "]") {
		return ""
	}
	return hostport[i:]
}
