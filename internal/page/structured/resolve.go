package structured

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/base/ascii"
	"seine/internal/base/weburl"
	"seine/internal/page/dom"
)

// BaseURL returns the document base URL (HTML standard, section 2.4.3): the href of the first base
// element that has one, resolved against the document's URL. It returns the document's URL if there
// is none, or if it is not http or https.
func BaseURL(root *html.Node, documentURL string) string {
	for n := range dom.Elements(root) {
		href, ok := dom.Find(n, "href")
		if !ok || !dom.Is(n, atom.Base) {
			continue
		}
		if u, ok := newResolver(documentURL).resolve(href); ok && strings.HasPrefix(u, "http") {
			return u
		}
		break
	}
	return documentURL
}

// resolver resolves the references of one page.
type resolver struct {
	url  string
	base *weburl.Base // nil if the base is not http or https
	full *whatwg.Url  // parsed on first use; nil if the base cannot be parsed
	made bool
}

func newResolver(base string) *resolver {
	r := &resolver{url: base}
	if b, err := weburl.NewBase(base); err == nil {
		r.base = b
	}
	return r
}

// resolve returns the URL of a reference, or false if it has none. An http or https URL is in the
// form of package weburl, like the page's links, but keeps its fragment, which often names an item.
func (r *resolver) resolve(ref string) (string, bool) {
	ref = strings.TrimFunc(ref, func(c rune) bool { return c <= ' ' })
	if r.base != nil {
		page, fragment, hasFragment := strings.Cut(ref, "#")
		if u, err := r.base.Resolve(page); err == nil {
			if hasFragment {
				u += "#" + escapeFragment(fragment)
			}
			return u, true
		}
	}
	u, err := r.parse(ref)
	if err != nil {
		return "", false
	}
	return u.Href(false), true
}

// parse is the URL standard's parser: for other schemes, long URLs, and without a base.
func (r *resolver) parse(ref string) (*whatwg.Url, error) {
	if !r.made {
		r.made = true
		if u, err := whatwg.Parse(r.url); err == nil {
			r.full = u
		}
	}
	if r.full == nil {
		return whatwg.Parse(ref)
	}
	return r.full.Parse(ref)
}

// escapeFragment percent-encodes a fragment as in the URL standard, and drops tabs and newlines.
func escapeFragment(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\t' || c == '\n' || c == '\r':
		case c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>`", c) >= 0:
			out = ascii.AppendEscape(out, c)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}
