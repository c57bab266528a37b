package crawlspec

import (
	"go.yaml.in/yaml/v4"

	"seine/internal/base/jsontext"
)

// Target says to which pages a rule applies. Everything given must hold.
type Target struct {
	// Match lists patterns, as in Spec.Include, of which the URL must match one;
	// none is every URL. Named groups of "re:…" have values for templates.
	Match Strings `json:"match,omitempty" yaml:"match,omitempty"`
	// Types of document, of DocumentTypes. None is what the rule's selectors can
	// read: CSS reads html; XPath html, xml, feed and sitemap; jq json, csv, feed and
	// sitemap.
	Types Strings `json:"types,omitempty" yaml:"types,omitempty"`
	// When is what must be so on the page.
	When *Condition `json:"when,omitempty" yaml:"when,omitempty"`
}

// DocumentTypes are the types that a rule may be for. NDJSON counts as json.
var DocumentTypes = []string{"html", "xml", "json", "feed", "csv", "text", "sitemap"}

// RecordRule makes records of the pages it applies to: one for each element that
// Each selects, or one of the page.
type RecordRule struct {
	// Kind is the name of such records: a lower-case letter, then letters, digits
	// and '_'.
	Kind   string `json:"kind" yaml:"kind"`
	Target `yaml:",inline"`
	// Each selects what there is a record of; the selectors of fields are relative
	// to it.
	Each *Each `json:"each,omitempty" yaml:"each,omitempty"`
	// Key is filled in from the fields, and is the record's "key".
	Key    Template `json:"key,omitempty" yaml:"key,omitempty"`
	Fields Fields   `json:"fields" yaml:"fields"`
	// Schema is a JSON Schema (2020-12) that a record must conform to.
	Schema Value `json:"schema,omitempty" yaml:"schema,omitempty"`
}

// FollowRule finds links: by a selector and Get, by URL, a template over With, or
// by Paginate.
type FollowRule struct {
	Target `yaml:",inline"`
	// Each selects what the other selectors are relative to.
	Each *Each `json:"each,omitempty" yaml:"each,omitempty"`
	// With gives values their names; where one is a list, there is a URL for each
	// of its members.
	With Fields `json:"with,omitempty" yaml:"with,omitempty"`
	// URL is a template over With, the groups of Match and the URL's parameters,
	// relative to the page. What is filled in is percent-encoded, unless the
	// template begins with it.
	URL Template `json:"url,omitempty" yaml:"url,omitempty"`
	// Selector and Get find URLs directly; all that they find are followed.
	Selector `yaml:",inline"`
	Get      string `json:"get,omitempty" yaml:"get,omitempty"` // of an element: "@href" if empty
	// Paginate counts a parameter of the URL up.
	Paginate *Paginate `json:"paginate,omitempty" yaml:"paginate,omitempty"`
	Priority *int      `json:"priority,omitempty" yaml:"priority,omitempty"`
	// Depth is added to that of the page; nil is 1, and 0 for Paginate.
	Depth *int `json:"depth,omitempty" yaml:"depth,omitempty"`
}

// Paginate leads from one page of a listing to the next, as long as While holds:
// the value of Parameter in the URL grows by Step. A URL without the parameter
// is the first page.
type Paginate struct {
	Parameter string     `json:"parameter" yaml:"parameter"`
	First     *int       `json:"first,omitempty" yaml:"first,omitempty"` // 1 if nil
	Step      int        `json:"step,omitempty" yaml:"step,omitempty"`   // 1 if 0
	Last      *int       `json:"last,omitempty" yaml:"last,omitempty"`   // the largest value; nil is that of the 1000th page
	While     *Condition `json:"while,omitempty" yaml:"while,omitempty"` // required
}

// Condition is what must be so on a page; everything that is given. A selector
// holds where it finds something. In YAML, a string stands for a CSS selector.
type Condition struct {
	Selector `yaml:",inline"`
	Status   Ints `json:"status,omitempty" yaml:"status,omitempty"` // one of these
	// Language lists language tags, of which the page must be in one: as it declares, or
	// else by its text. "en" is every English, "en-GB" the British alone.
	Language Strings `json:"language,omitempty" yaml:"language,omitempty"`
	// TextLanguage is the same by the text alone, whatever the page declares.
	TextLanguage Strings `json:"text_language,omitempty" yaml:"text_language,omitempty"`
	// NoIndex is whether the page asks not to be indexed: in a robots meta element, or in
	// X-Robots-Tag.
	NoIndex *bool `json:"noindex,omitempty" yaml:"noindex,omitempty"`
	// Header are headers of the response, each with a regular expression (RE2) that a value
	// of it must have a match of.
	Header map[string]string `json:"header,omitempty" yaml:"header,omitempty"`
	Not    *Condition        `json:"not,omitempty" yaml:"not,omitempty"`
	Any    []Condition       `json:"any,omitempty" yaml:"any,omitempty"` // at least one of these
}

// Selector finds parts of a document. At most one of CSS, XPath, JSONLD and Meta
// is given. Regex and JQ apply to what it finds, or to the whole document.
type Selector struct {
	CSS   string `json:"css,omitempty" yaml:"css,omitempty"`
	XPath string `json:"xpath,omitempty" yaml:"xpath,omitempty"` // XPath 1.0
	// JSONLD is a jq expression over the objects of the page's JSON-LD, one after
	// the other.
	JSONLD string `json:"json_ld,omitempty" yaml:"json_ld,omitempty"`
	// Meta is the name or property of a meta element.
	Meta string `json:"meta,omitempty" yaml:"meta,omitempty"`
	// Regex (RE2) finds its first group, or all of it where it has none.
	Regex string `json:"regex,omitempty" yaml:"regex,omitempty"`
	JQ    string `json:"jq,omitempty" yaml:"jq,omitempty"`
}

// None reports whether nothing is selected.
func (s Selector) None() bool { return s == Selector{} }

// Each selects what there is one record, or one link, of. In YAML, a string stands
// for a CSS selector.
type Each struct {
	Selector `yaml:",inline"`
	// From is main, for the main content of a page, or sections, for what is between its
	// headings. It is given in the place of a selector.
	From string `json:"from,omitempty" yaml:"from,omitempty"`
}

// UnmarshalYAML reads a selector, or the CSS selector that stands for one.
func (e *Each) UnmarshalYAML(n *yaml.Node) error {
	if css, ok := scalarText(n); ok {
		*e = Each{Selector: Selector{CSS: css}}
		return nil
	}
	type plain Each
	return load(n, (*plain)(e))
}

// Field says how a value is found and what is made of it, in this order: the
// selector, Get, Regex, Replace, Trim, JQ, Split, As, Default, Required. In YAML,
// a string stands for a field with that CSS selector.
type Field struct {
	Selector `yaml:",inline"`
	// From takes what no selector finds: url, status, text, html, header:NAME, or page:NAME,
	// what the record of the page has as that field.
	From string `json:"from,omitempty" yaml:"from,omitempty"`
	// Value is a template over the fields before, the groups of the rule's Match
	// and the URL's parameters.
	Value *Template `json:"value,omitempty" yaml:"value,omitempty"`
	// Get says what is taken of an element: text (white space folded; the default),
	// raw (all its text as it is), html, outer_html, markdown or "@attribute".
	Get string `json:"get,omitempty" yaml:"get,omitempty"`
	// All takes everything found, as a list; otherwise the first that is not empty.
	All bool `json:"all,omitempty" yaml:"all,omitempty"`
	// Replace replaces in texts, one after the other.
	Replace []Replace `json:"replace,omitempty" yaml:"replace,omitempty"`
	// Trim removes white space at both ends of texts, unless it is false.
	Trim *bool `json:"trim,omitempty" yaml:"trim,omitempty"`
	// Split makes a text a list, at each of these.
	Split string `json:"split,omitempty" yaml:"split,omitempty"`
	// As says what the text is made: text, number, integer, boolean, date, url or
	// json. Without it, a text stays a text, and what jq gives what it is.
	As string `json:"as,omitempty" yaml:"as,omitempty"`
	// Decimal is what separates the decimals of a number, '.' or ','; without it,
	// that is found out from the number.
	Decimal string `json:"decimal,omitempty" yaml:"decimal,omitempty"`
	// Layout lists layouts of dates, as Go's package time has them, that are tried
	// first; TimeZone is that of a date that names none (IANA name; UTC if empty).
	Layout   Strings `json:"layout,omitempty" yaml:"layout,omitempty"`
	TimeZone string  `json:"timezone,omitempty" yaml:"timezone,omitempty"`
	// Map makes an object with a member for each thing that the selector finds.
	Map *MapRule `json:"map,omitempty" yaml:"map,omitempty"`
	// Fields make an object of what the selector finds, with selectors relative to
	// it.
	Fields Fields `json:"fields,omitempty" yaml:"fields,omitempty"`
	// Default is what a field has that found nothing.
	Default Value `json:"default,omitempty" yaml:"default,omitempty"`
	// Required keeps a record from being made where the field found nothing.
	Required bool `json:"required,omitempty" yaml:"required,omitempty"`
}

// Replace replaces what Regex (RE2) finds by With, in which "$1" is its first
// group.
type Replace struct {
	Regex string `json:"regex" yaml:"regex"`
	With  string `json:"with,omitempty" yaml:"with,omitempty"`
}

// MapRule says what the members of an object are called and what they have.
type MapRule struct {
	Key   Field `json:"key" yaml:"key"`
	Value Field `json:"value" yaml:"value"`
}

// UnmarshalYAML reads a condition, or the CSS selector that stands for one.
func (c *Condition) UnmarshalYAML(n *yaml.Node) error {
	if css, ok := scalarText(n); ok {
		*c = Condition{Selector: Selector{CSS: css}}
		return nil
	}
	type plain Condition
	return load(n, (*plain)(c))
}

// UnmarshalYAML reads a field, or the CSS selector that stands for one.
func (f *Field) UnmarshalYAML(n *yaml.Node) error {
	if css, ok := scalarText(n); ok {
		*f = Field{Selector: Selector{CSS: css}}
		return nil
	}
	type plain Field
	return load(n, (*plain)(f))
}

// UnmarshalJSON reads a field, or the CSS selector that stands for one.
func (f *Field) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*f = Field{}
		return jsontext.Unmarshal(b, &f.CSS)
	}
	type plain Field
	return jsontext.Unmarshal(b, (*plain)(f))
}
