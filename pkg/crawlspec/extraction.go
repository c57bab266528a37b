package crawlspec

import (
	"slices"

	"seine/pkg/messages"
)

// Emit says for which pages there is a record of the page itself.
type Emit string

// When the record of a page is made.
const (
	EmitAuto   Emit = "auto" // unless the spec has record rules or chunks
	EmitAlways Emit = "always"
	EmitNever  Emit = "never"
)

// PageOutput configures the record of a page, which is separate from those of record rules.
type PageOutput struct {
	Emit Emit `json:"emit"`
	// Fields of the record, of PageFields, in this order; if empty, the default
	// ones.
	Fields Strings `json:"fields,omitempty"`
	// When is a condition for the page; other pages have no such record.
	When *Condition `json:"when,omitempty"`
}

// PageFields are the fields that the record of a page may have.
var PageFields = []string{
	"url", "status", "content_type", "media_type", "type_mismatch", "title", "description", "canonical", "language",
	"text_language", "charset", "noindex", "text", "headings", "author", "published", "modified", "main", "markdown", "json_ld", "microdata",
	"rdfa", "open_graph", "twitter", "links", "digest", "simhash", "duplicate_of", "fetched_at", "fetch_ms", "bytes", "depth",
	"rendered", "referrer", "crawl", "visit", "run", "metadata", "pages", "no_text",
}

// addedFields are further fields, which any record has if they are not empty.
var addedFields = []string{"cut", "render_problems", "truncated"}

// PageFieldsOfRules returns the PageFields that rules can use with "from: page:NAME". It omits
// those that are known only after the rules, or are computed only for the record of the page.
func PageFieldsOfRules() []string {
	return slices.DeleteFunc(slices.Clone(PageFields), func(name string) bool {
		return name == "duplicate_of" || name == "links" || name == "headings"
	})
}

// LinkRules says which of a page's links are followed.
type LinkRules struct {
	// Follow lists the kinds of links to follow, of LinkKinds. If it is empty, only follow rules find links.
	Follow Strings `json:"follow"`
	// Attributes are the names of attributes that hold a URL, on any element.
	Attributes Strings `json:"attributes,omitempty"`
	// NoFollow says whether rel=nofollow and nofollow in robots directives of a page are obeyed.
	NoFollow Robots `json:"nofollow"`
}

// LinkKinds are the kinds of link that a page may have, by the markup they come
// from; the first are followed unless a spec says otherwise.
var LinkKinds = []string{
	"anchor", "area", "frame", "refresh", "next", "prev", "canonical", "alternate",
	"feed", "link", "image", "srcset", "form", "header",
}

const defaultLinkKinds = 8

// Duplicate is the treatment of a record whose page was seen before.
type Duplicate string

// Treatments of duplicates.
const (
	DuplicateKeep Duplicate = "keep" // nothing
	DuplicateMark Duplicate = "mark" // the record names the page that it repeats
	DuplicateDrop Duplicate = "drop" // no record
)

// Duplicates is the treatment of pages that equal another page exactly or nearly.
type Duplicates struct {
	Exact Duplicate `json:"exact"` // the same digest
	Near  Duplicate `json:"near"`  // a simhash that differs in at most Distance of its 64 bits
	// Distance is from 0 to MaxDistance.
	Distance int `json:"distance"`
	// Unchanged is the treatment of records of a page whose bytes equal those of its previous visit.
	Unchanged Unchanged `json:"unchanged"`
}

// Unchanged is the treatment of records of an unchanged page.
type Unchanged string

// Treatments of unchanged pages.
const (
	UnchangedKeep Unchanged = "keep" // they are made again
	UnchangedDrop Unchanged = "drop" // no records, as for a 304 response
)

// WhenGone is the treatment of a page that has records and no longer exists.
type WhenGone string

// Treatments of pages that no longer exist.
const (
	WhenGoneDrop   WhenGone = "drop"   // no record
	WhenGoneRecord WhenGone = "record" // one record of the kind gone; scheduled runs visit all pages that have records
)

// Distances of simhashes.
const (
	DefaultDistance = 3
	// MaxDistance exceeds the usual distance of near duplicates, which is 3. Up to 3 costs four
	// look-ups a page, more 68.
	MaxDistance = 7
)

// MainContent selects the main content of a page, for the fields main and markdown, and for rules with "from: main".
type MainContent struct {
	// Comments below an article: with keep they follow its text, in a section with the heading Comments. The posts of a
	// forum or the answers to a question are main content, and always kept.
	Comments Comments `json:"comments"`
	// Prefer is precision to have the text alone, without its title, standfirst, captions and links to other texts, and
	// recall rather to have too much. Balanced lies between.
	Prefer Prefer `json:"prefer"`
}

// Comments is the treatment of comments below an article.
type Comments string

// Treatments of comments.
const (
	CommentsDrop Comments = "drop"
	CommentsKeep Comments = "keep"
)

// Prefer is which fault of a main content is the smaller one.
type Prefer string

// Values of Prefer.
const (
	PreferBalanced  Prefer = "balanced"
	PreferPrecision Prefer = "precision"
	PreferRecall    Prefer = "recall"
)

// Mask replaces personal data in texts before they are stored.
type Mask struct {
	Kinds Strings `json:"kinds,omitempty"` // kinds to mask, of MaskKinds; empty: all
	// Fields of records and of pages, by name; "*" selects all; if empty, nothing is masked.
	Fields Strings `json:"fields,omitempty"`
}

// MaskKinds are the kinds of personal data that can be masked.
var MaskKinds = []string{"email", "phone", "ip", "iban", "card"}

// Extraction is the part of a Spec that defines records and links of pages.
type Extraction struct {
	Page PageOutput `json:"page"`
	// Links says which links of a page are followed; Follow finds more by rules.
	Links  LinkRules    `json:"links"`
	Follow []FollowRule `json:"follow,omitempty"`
	// Records make records of the pages that they match, each its own.
	Records []RecordRule `json:"records,omitempty"`
	// Chunks splits the main content of pages into records; nil makes none.
	Chunks     *Chunks    `json:"chunks,omitempty"`
	Duplicates Duplicates `json:"duplicates"`
	// Gone is the treatment of a page that has records and no longer exists.
	Gone WhenGone `json:"gone"`
	// Content selects the main content of a page.
	Content MainContent `json:"content"`
	Mask    Mask        `json:"mask"`
}

// DefaultExtraction makes one record of each page and follows the links that a reader could.
func DefaultExtraction() Extraction {
	return Extraction{
		Page:       PageOutput{Emit: EmitAuto},
		Links:      LinkRules{Follow: append(Strings(nil), LinkKinds[:defaultLinkKinds]...), NoFollow: RobotsObey},
		Duplicates: Duplicates{Exact: DuplicateKeep, Near: DuplicateKeep, Distance: DefaultDistance, Unchanged: UnchangedKeep},
		Gone:       WhenGoneDrop,
		Content:    MainContent{Comments: CommentsDrop, Prefer: PreferBalanced},
	}
}

// Kinds returns the kinds of records of the spec, without those of extractors.
func (e *Extraction) Kinds() []string { return e.kindsOf(func(*RecordRule) bool { return true }) }

// KindsWithoutKey returns the kinds of records that have no key.
func (e *Extraction) KindsWithoutKey() []string {
	return e.kindsOf(func(r *RecordRule) bool { return r.Key == "" })
}

// kindsOf returns the kinds of the rules for which counts is true, and of pages.
func (e *Extraction) kindsOf(counts func(*RecordRule) bool) (kinds []string) {
	if e.EmitsPage() {
		kinds = append(kinds, messages.KindPage)
	}
	for _, r := range e.Rules() {
		if counts(r) && !slices.Contains(kinds, r.Kind) {
			kinds = append(kinds, r.Kind)
		}
	}
	return kinds
}

// EmitsPage reports whether a page itself has a record.
func (e *Extraction) EmitsPage() bool {
	return e.Page.Emit == EmitAlways || e.Page.Emit == EmitAuto && len(e.Records) == 0 && e.Chunks == nil
}
