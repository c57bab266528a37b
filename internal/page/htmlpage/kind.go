package htmlpage

// Kind is the kind of markup that a link came from.
type Kind uint8

// The kinds of link.
const (
	KindAnchor    Kind = iota // a href
	KindArea                  // area href
	KindFrame                 // iframe or frame src
	KindRefresh               // meta http-equiv=refresh, Refresh header
	KindNext                  // link rel=next
	KindPrev                  // link rel=prev or previous
	KindCanonical             // link rel=canonical
	KindAlternate             // link rel=alternate with hreflang
	KindFeed                  // link to an RSS, Atom or JSON feed
	KindLink                  // link of any other rel, including style sheets and icons
	KindImage                 // img src
	KindSrcset                // a candidate of the srcset of img, or of source in picture
	KindForm                  // form action with the method GET, without its query
	KindAttribute             // an attribute of Options.Attributes
	KindHeader                // Link header, see HeaderLinks
	numKinds      = iota
)

var kindNames = [numKinds]string{
	KindAnchor:    "anchor",
	KindArea:      "area",
	KindFrame:     "frame",
	KindRefresh:   "refresh",
	KindNext:      "next",
	KindPrev:      "prev",
	KindCanonical: "canonical",
	KindAlternate: "alternate",
	KindFeed:      "feed",
	KindLink:      "link",
	KindImage:     "image",
	KindSrcset:    "srcset",
	KindForm:      "form",
	KindAttribute: "attribute",
	KindHeader:    "header",
}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// ParseKind returns the kind with a name.
func ParseKind(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), true
		}
	}
	return 0, false
}

// Kinds is a set of kinds.
type Kinds uint32

// NoKinds is the empty set; the zero value stands for DefaultKinds.
const NoKinds Kinds = 1 << 31

// DefaultKinds are the kinds of links that lead from page to page.
const DefaultKinds = 1<<KindAnchor | 1<<KindArea | 1<<KindFrame | 1<<KindRefresh |
	1<<KindNext | 1<<KindPrev | 1<<KindCanonical | Kinds(1)<<KindAlternate

// KindsOf returns the set of the given kinds, NoKinds if none are given.
func KindsOf(kinds ...Kind) Kinds {
	set := NoKinds
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Has reports whether k is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }

// Link is a URL that the page links to.
type Link struct {
	URL  string
	Kind Kind // of the first link to URL in the document
	// NoFollow reports that every link to URL is marked nofollow, ugc or sponsored. One unmarked
	// link is enough to follow it.
	NoFollow bool
	// Kinds are the kinds of all wanted links to URL, and Unmarked those of the links without such
	// a mark. To follow only some kinds, call ShouldFollow.
	Kinds, Unmarked Kinds
	// Text is the text of the first link to URL that has one, with whitespace folded, on one line.
	// For an a element it is the content, including alternative texts of images; for an image or
	// area the alternative text; for a link, frame or Link header the title. See Options.LinkTexts.
	Text string
	// Rel has the link types of the first link to URL that has any, in lower case,
	// separated by one space. See Options.LinkTexts.
	Rel string
	// Page is the number of the page with the first link to URL, 0 if pages are not numbered.
	Page int
}

// ShouldFollow reports whether one of the links to the URL is of these kinds and, if obey is set,
// is not marked as not to be followed.
func (l *Link) ShouldFollow(kinds Kinds, obey bool) bool {
	if obey {
		return l.Unmarked&kinds&^NoKinds != 0
	}
	return l.Kinds&kinds&^NoKinds != 0
}
