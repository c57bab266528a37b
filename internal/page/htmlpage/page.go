package htmlpage

import (
	"time"

	"seine/internal/base/weburl"
)

// Defaults for the fields of Options left at zero.
const (
	DefaultMaxText  = 1 << 20
	DefaultMaxLinks = 10_000
)

// Limits of the small fields, so that a hostile page cannot make a record huge.
const (
	// maxField bounds Title and Description, in bytes; longer ones are truncated.
	maxField = 8 << 10
	// maxLanguage bounds Language. BCP 47 (RFC 5646 section 4.4.1) needs 35 characters for any tag
	// without extensions; a longer value is dropped.
	maxLanguage = 64
	// maxRef bounds a link as written, before it is resolved: weburl accepts no longer ones. It
	// prevents copies of data: URLs.
	maxRef = 2 * weburl.MaxLength
	// maxLinkText bounds the text of a link, and maxRel its rel, in bytes.
	maxLinkText = 512
	maxRel      = 256
	// maxHeadings bounds Page.Headings, and maxHeading each of them in bytes.
	maxHeadings = 1000
	maxHeading  = 1 << 10
)

// Options sets what Scan reads and how much it keeps. The zero value is ready to use.
type Options struct {
	// Agent is the crawler's product token. A meta element of that name is obeyed in addition to
	// the one named robots. Case is ignored.
	Agent string
	// Now is when the page was fetched: an unavailable_after before it is a noindex. If Now is
	// zero, unavailable_after is ignored.
	Now time.Time
	// XML means that the page is XHTML, whatever its header says.
	XML bool
	// Routes means that the route of a URL belongs to it (weburl.Route).
	Routes bool
	// MaxText bounds Page.Text in bytes. Text is truncated at a rune boundary.
	MaxText int
	// MaxLinks bounds Page.Links. The first links in the document are kept.
	MaxLinks int
	// Kinds are the kinds of links wanted: DefaultKinds if zero, NoKinds for none.
	Kinds Kinds
	// Attributes names further attributes, of any element, that hold a URL, in lower case. Their
	// links have KindAttribute, which is wanted if Attributes is not empty.
	Attributes []string
	// LinkTexts requests the Text and Rel of links.
	LinkTexts bool
	// Headings requests Page.Headings.
	Headings bool
	// Numbers means that sections have an attribute data-page with the number of their page, which
	// is returned with headings and links.
	Numbers bool
}

func (o Options) withDefaults() Options {
	if o.MaxText <= 0 {
		o.MaxText = DefaultMaxText
	}
	if o.MaxLinks <= 0 {
		o.MaxLinks = DefaultMaxLinks
	}
	if o.Kinds == 0 {
		o.Kinds = DefaultKinds
	}
	if len(o.Attributes) > 0 {
		o.Kinds |= 1 << KindAttribute
	}
	return o
}

// Page is the result of Scan. All strings are valid UTF-8 and own their memory: none keeps the
// page's bytes alive.
type Page struct {
	Title       string // first title element, whitespace folded
	Description string // first non-empty meta description, whitespace folded
	Canonical   string // first resolvable link rel=canonical, absolute
	Language    string // html lang, else xml:lang, else meta content-language
	Charset     string // name of the encoding that the page was read in, lower case

	// NoIndex and NoFollow are the page's meta robots directives; see Restrict for the header's.
	// NoFollow does not change Links: the caller decides what to follow.
	NoIndex, NoFollow bool

	// Text is the visible text: whitespace is folded, blocks are on separate lines, and table cells
	// are separated by a space. The title is not included.
	Text string

	// Content is a fingerprint of the words of the text, without those that only identify the page:
	// words in links, words of the page's URL, numbers and codes. Pages without other distinct
	// words share it. It is 0 only if it was not computed.
	Content uint64

	// Links has each URL once, in document order, without the page itself.
	Links []Link

	// Headings are the headings with text, in document order; see Options.
	Headings []Heading
}

// Heading is an element from h1 to h6.
type Heading struct {
	Level int    // from 1 to 6
	Text  string // whitespace folded, on one line
	Page  int    // number of its page, 0 if pages are not numbered
}
