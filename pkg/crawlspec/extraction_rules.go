package crawlspec

// Target says to which pages a rule applies. Everything given must hold.
type Target struct {
	// Match lists patterns, as in Spec.Include; the URL must match one. If it is empty, every URL matches. Named
	// groups of "re:…" are values for templates.
	Match Strings `json:"match,omitempty"`
	// Types of document, of DocumentTypes. If it is empty, the selectors of the rule decide: CSS reads html, pdf and office;
	// XPath also xml, feed and sitemap; jq json, csv, feed and sitemap.
	Types Strings `json:"types,omitempty"`
	// When is a condition for the page.
	When *Condition `json:"when,omitempty"`
}

// DocumentTypes are the types that a rule may be for. NDJSON counts as json.
var DocumentTypes = []string{"html", "xml", "json", "feed", "csv", "text", "sitemap", "pdf", "office"}

// RecordRule makes records of the pages it applies to: one for each element that
// Each selects, or one of the page.
type RecordRule struct {
	// Kind is the name of such records: a lower-case letter, then letters, digits
	// and '_'.
	Kind string `json:"kind"`
	Target
	// Each selects the parts of the page that make one record each; the selectors of fields are relative to
	// them.
	Each *Each `json:"each,omitempty"`
	// Key is filled in from the fields, and from {host} and {url} of the page. It is the record's "key".
	Key    Template `json:"key,omitempty"`
	Fields Fields   `json:"fields"`
	// Schema is a JSON Schema (2020-12) that a record must conform to.
	Schema Value `json:"schema,omitempty"`
}

// FollowRule finds links: by a selector and Get, by URL, a template over With, or
// by Paginate.
type FollowRule struct {
	Target
	// Each selects the parts of the page that the other selectors are relative to.
	Each *Each `json:"each,omitempty"`
	// With defines named values. If a value is a list, each of its members yields a URL.
	With Fields `json:"with,omitempty"`
	// URL is a template over With, the groups of Match and the URL's parameters,
	// relative to the page. Inserted values are percent-encoded, unless the
	// template begins with one.
	URL Template `json:"url,omitempty"`
	// Selector and Get find URLs directly. All matches are followed.
	Selector
	Get string `json:"get,omitempty"` // of an element: "@href" if empty
	// Paginate increments a parameter of the URL.
	Paginate *Paginate `json:"paginate,omitempty"`
	Priority *int      `json:"priority,omitempty"`
	// Depth is added to the depth of the page. By default it is 1, with Paginate 0.
	Depth *int `json:"depth,omitempty"`
}

// Paginate follows the pages of a listing while While holds: it adds Step to the
// value of Parameter in the URL. A URL without the parameter is the first page.
type Paginate struct {
	Parameter string     `json:"parameter"`
	First     *int       `json:"first,omitempty"` // 1 if nil
	Step      int        `json:"step,omitempty"`  // 1 if 0
	Last      *int       `json:"last,omitempty"`  // the largest value, by default that of the 1000th page
	While     *Condition `json:"while,omitempty"` // required
}

// Condition is a condition for a page: all given keys must be true. A selector is true if it finds something. In
// YAML, a string stands for a CSS selector.
type Condition struct {
	Selector
	Status Ints `json:"status,omitempty"` // one of these
	// Language lists language tags. The language of the page must be one of them: the declared one, or else that
	// of its text. "en" includes every English, "en-GB" only British.
	Language Strings `json:"language,omitempty"`
	// TextLanguage is like Language, but ignores what the page declares.
	TextLanguage Strings `json:"text_language,omitempty"`
	// NoIndex is true for pages that forbid indexing in a robots meta element or in X-Robots-Tag.
	NoIndex *bool `json:"noindex,omitempty"`
	// Header are headers of the response, each with a regular expression (RE2) that a value
	// of it must have a match of.
	Header map[string]string `json:"header,omitempty"`
	Not    *Condition        `json:"not,omitempty"`
	Any    []Condition       `json:"any,omitempty"` // at least one of these
}

// Selector finds parts of a document. At most one of CSS, XPath, JSONLD and Meta
// is given. Regex and JQ apply to what it finds, or to the whole document.
type Selector struct {
	CSS   string `json:"css,omitempty"`
	XPath string `json:"xpath,omitempty"` // XPath 1.0
	// JSONLD is a jq expression over the objects of the page's JSON-LD, one after
	// the other.
	JSONLD string `json:"json_ld,omitempty"`
	// Meta is the name or property of a meta element.
	Meta string `json:"meta,omitempty"`
	// Regex (RE2) extracts its first group, or the complete match if it has no group.
	Regex string `json:"regex,omitempty"`
	JQ    string `json:"jq,omitempty"`
}

// None reports whether the selector is empty.
func (s Selector) None() bool { return s == Selector{} }

// Each selects the parts of a page that make one record or one link each. In YAML, a string stands for a CSS
// selector.
type Each struct {
	Selector
	// From is main (the main content of the page) or sections (the text between headings). It replaces a
	// selector.
	From string `json:"from,omitempty"`
}

// Field finds a value and converts it, in this order: the selector, Get, Regex, Replace, Trim, JQ, Split, As,
// Default, Required. In YAML, a string stands for a field with that CSS selector.
type Field struct {
	Selector
	// From takes a value that is not in the document: url, status, text, html, header:NAME, or page:NAME, a
	// field of the page's record.
	From string `json:"from,omitempty"`
	// Value is a template over the fields before, the groups of the rule's Match
	// and the URL's parameters.
	Value *Template `json:"value,omitempty"`
	// Get selects the part of an element: text (white space folded; the default), raw (all its text, unchanged),
	// html, outer_html, markdown or "@attribute".
	Get string `json:"get,omitempty"`
	// All takes everything found, as a list; otherwise the first that is not empty.
	All bool `json:"all,omitempty"`
	// Replace replaces in texts, one after the other.
	Replace []Replace `json:"replace,omitempty"`
	// Trim removes white space at both ends of texts, unless it is false.
	Trim *bool `json:"trim,omitempty"`
	// Split makes a text a list, at each of these.
	Split string `json:"split,omitempty"`
	// As converts the text: text, number, integer, boolean, date, url or json. Without it, a text stays a text,
	// and a result of jq keeps its type.
	As string `json:"as,omitempty"`
	// Decimal is the decimal separator of a number, '.' or ','. Without it, the number itself decides.
	Decimal string `json:"decimal,omitempty"`
	// Layout lists date layouts in the notation of Go's package time, which are tried
	// first; TimeZone applies to dates without one (IANA name; UTC if empty).
	Layout   Strings `json:"layout,omitempty"`
	TimeZone string  `json:"timezone,omitempty"`
	// Map makes an object with a member for each thing that the selector finds.
	Map *MapRule `json:"map,omitempty"`
	// Fields make an object of each element that the selector finds; their selectors are relative to it.
	Fields Fields `json:"fields,omitempty"`
	// Default is the value of a field that found nothing.
	Default Value `json:"default,omitempty"`
	// Required keeps a record from being made where the field found nothing.
	Required bool `json:"required,omitempty"`
}

// Replace replaces matches of Regex (RE2) by With, in which "$1" is the first group.
type Replace struct {
	Regex string `json:"regex"`
	With  string `json:"with,omitempty"`
}

// MapRule defines the names and values of the members of an object.
type MapRule struct {
	Key   Field `json:"key"`
	Value Field `json:"value"`
}
