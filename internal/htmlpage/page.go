package htmlpage

import (
	"time"

	"seine/internal/weburl"
)

// Defaults for the fields of Options left at zero.
const (
	DefaultMaxText  = 1 << 20
	DefaultMaxLinks = 10_000
)

// Bounds of the small fields, so that one hostile page cannot swell a record.
const (
	// maxField bounds Title and Description, in bytes; the rest is cut.
	maxField = 8 << 10
	// maxLanguage bounds Language. BCP 47 (RFC 5646 section 4.4.1) needs 35
	// characters for any tag without extensions; a longer value is dropped.
	maxLanguage = 64
	// maxRef bounds a link as written, before it is resolved: weburl takes no
	// longer ones. It keeps data: URLs from being copied.
	maxRef = 2 * weburl.MaxLength
)

// Options sets what Scan listens to and how much it keeps.
// The zero value is ready to use.
type Options struct {
	// Agent is the crawler's product token. A meta element of that name is
	// obeyed as well as the one named robots. Compared without regard to case.
	Agent string
	// Now is when the page was fetched: an unavailable_after before it is a
	// noindex. Without it none is.
	Now time.Time
	// MaxText bounds Page.Text in bytes. Text is cut at a rune boundary.
	MaxText int
	// MaxLinks bounds Page.Links. The first ones in the document are kept.
	MaxLinks int
}

func (o Options) withDefaults() Options {
	if o.MaxText <= 0 {
		o.MaxText = DefaultMaxText
	}
	if o.MaxLinks <= 0 {
		o.MaxLinks = DefaultMaxLinks
	}
	return o
}

// Page is what Scan found. All strings are valid UTF-8 and own their memory:
// none keeps the page's bytes alive.
type Page struct {
	Title       string // first title element, whitespace folded
	Description string // first non-empty meta description, whitespace folded
	Canonical   string // first resolvable link rel=canonical, absolute
	Language    string // html lang, else xml:lang, else meta content-language
	Charset     string // name of the encoding the page was read in, lower case

	// NoIndex and NoFollow are the page's meta robots directives, see Restrict for
	// those of its header. NoFollow does not change Links; whoever follows them
	// decides.
	NoIndex, NoFollow bool

	// Text is the visible text: whitespace folded, blocks on lines of their
	// own, table cells apart by a space, the title not included.
	Text string

	// Content tells pages apart by the words of their text, without what says
	// only which page it is: words in links, words of the page's URL, numbers and
	// codes. Pages that have nothing else of their own share it. It is 0 only
	// where it was not computed.
	Content uint64

	// Links holds each URL once, in document order, without the page itself.
	Links []Link
}

// Link is one URL the page leads to.
type Link struct {
	URL  string
	Kind Kind // of the first link to URL in the document
	// NoFollow reports that every link to URL is marked nofollow, ugc or
	// sponsored. One unmarked link is enough to follow it.
	NoFollow bool
}

// Kind tells which markup a link came from.
type Kind uint8

// The kinds of link Scan reports.
const (
	KindAnchor    Kind = iota // a href
	KindArea                  // area href
	KindFrame                 // iframe or frame src
	KindRefresh               // meta http-equiv=refresh
	KindNext                  // link rel=next
	KindPrev                  // link rel=prev or previous
	KindCanonical             // link rel=canonical
	KindAlternate             // link rel=alternate with hreflang
)

var kindNames = [...]string{
	KindAnchor:    "anchor",
	KindArea:      "area",
	KindFrame:     "frame",
	KindRefresh:   "refresh",
	KindNext:      "next",
	KindPrev:      "prev",
	KindCanonical: "canonical",
	KindAlternate: "alternate",
}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}
