package article

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"seine/internal/page/dom"
)

// classHint is the meaning of the words in an element's class and ID.
type classHint uint8

const (
	signNone   classHint = iota
	signNote             // a remark that belongs to the text, in any position
	signWeak             // boilerplate if it is short or full of links
	signAuthor           // the author: boilerplate, unless it is a post
	signBelow            // below a product, such as reviews: boilerplate if it is long, except in an article
	signStrong           // boilerplate

	signPost classHint = 1 << 7 // combined with one of the above: a post
)

// and returns the stronger of two hints.
func (s classHint) and(o classHint) classHint {
	return max(s&^signPost, o&^signPost) | (s|o)&signPost
}

// signs are words that name boilerplate, as used by the templates of common site generators and
// content management systems.
var signs = makeSigns()

func makeSigns() map[string]classHint {
	m := map[string]classHint{}
	add := func(s classHint, words string) {
		for w := range strings.FieldsSeq(words) {
			m[w] |= s
		}
	}
	add(signNote, `admonition footnote footnotes endnote endnotes callout note warning tip important`)
	add(signWeak, `nav navi navigation menu menubar submenu banner header kopf entete cabecera masthead topbar toolbar tools
		tags tag taglist topics categories meta actions action act buttons button widget promo pr bottom
		search searchbox profile login account print pages hidden noprint mobile announcements
		follow follows sitemap copyright credits imprint jumpbox online
		ranking popular trending trends latest older newer filter filters facet facets links linklist votecell signature`)
	add(signAuthor, `author bio`)
	add(signBelow, `review reviews questions legal disclaimer`)
	add(signStrong, `ad ads adslot advert adverts advertisement advertising adsense adthrive sponsor sponsored
		breadcrumb breadcrumbs crumbs cookie cookies consent gdpr
		share sharing shares sharedaddy social sns
		related relatedposts relatedlinks recommended recommendation recommendations recommends similar
		newsletter subscribe signup comments commentlist comment respond disqus
		sidebar sidebars navbar navbox navheader navfooter sphinxsidebar skip skiplink skiplinks
		pagination paginator pager popup modal lightbox catlinks printfooter toc tableofcontents
		footer foot fuss pied colophon feedback jump postprofile announcement cta upsell paywall teaser pullbox popover tooltip floating badge
		postsignature userinfo authorbox sitenotice sitesub jumptonav contentsub onlinelist votingcontainer votecount`)
	add(signPost, `post posts message messages comment comments reply replies answer answers msg postbody postcontent
		postbit bbwrapper usertext`)
	return m
}

// signOf returns the strongest hint in class and id.
func signOf(n *html.Node) classHint { return hintOf(n) &^ signPost }

// hintOf is signOf, including signPost.
func hintOf(n *html.Node) classHint {
	s := signNone
	for _, name := range [...]string{"class", "id"} {
		if name == "id" && isTitled(n) {
			break
		}
		v := dom.Attribute(n, name)
		if len(v) > maxClass {
			v = v[:maxClass]
		}
		s = s.and(signOfWords(v))
	}
	return s
}

// isTitled reports whether an element is a section that begins with a heading: its id is made from
// the heading, as a link target.
func isTitled(n *html.Node) bool {
	if n.DataAtom != atom.Section {
		return false
	}
	first := n.FirstChild
	for first != nil && first.Type != html.ElementNode {
		first = first.NextSibling
	}
	return first != nil && isHeading(first)
}

// signOfWords returns the strongest hint of the names in a value and the words in each name. Words
// are runs of letters; a capital after a small letter starts one, as in "navBar". A name of several
// words may have a hint that differs from those of its words.
func signOfWords(v string) classHint {
	s := signNone
	for name := range strings.FieldsSeq(v) {
		s = s.and(signOfName(name))
	}
	return s
}

// longestWord is the length of the longest word or name that has a hint.
const longestWord = 16

func signOfName(name string) classHint {
	s := signNone
	var letters [4 * longestWord]byte
	start, end := 0, 0 // of the current word in letters
	for i := 0; i < len(name) && end < len(letters); i++ {
		c := name[i]
		upper := 'A' <= c && c <= 'Z'
		if upper && i > 0 && 'a' <= name[i-1] && name[i-1] <= 'z' || !isLetter(c) {
			s = s.and(signOfWord(letters[start:end], name, i))
			start = end
		}
		if isLetter(c) {
			letters[end] = c | 0x20
			end++
		}
	}
	return s.and(signOfWord(letters[start:end], name, len(name))).and(signs[string(letters[:end])])
}

// signOfWord returns the hint of a word that ends at end in a name. Letters after a digit, and up
// to two before one, are not a word: they are digits of a number in base 16 or more, as in
// "8c2ad33e".
func signOfWord(word []byte, name string, end int) classHint {
	start := end - len(word)
	if start > 0 && isDigit(name[start-1]) || len(word) <= 2 && end < len(name) && isDigit(name[end]) {
		return signNone
	}
	return signs[string(word)]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// classSet is a set of class names, in lower case.
type classSet map[string]bool

func classes(names string) classSet {
	s := classSet{}
	for name := range strings.FieldsSeq(names) {
		s[name] = true
	}
	return s
}

// has reports whether an element has one of the classes.
func (s classSet) has(n *html.Node) bool {
	v := dom.Attribute(n, "class")
	if v == "" || len(v) > maxClass {
		return false
	}
	for name := range strings.FieldsSeq(v) {
		if s[name] || s[strings.ToLower(name)] {
			return true
		}
	}
	return false
}
