package extract

import (
	"fmt"
	"strings"

	"seine/internal/page/document"
)

// languageRange is a set of languages, one of which a document must have.
type languageRange struct {
	field string // page field with the language
	tags  []string
}

// has reports whether the language of a document is in the set, or a variant of a member: en-GB is
// English (RFC 4647, section 3.3.1).
func (l *languageRange) has(doc *document.Document) bool {
	is := strings.ReplaceAll(doc.PageText(l.field), "_", "-")
	for _, tag := range l.tags {
		if len(is) >= len(tag) && strings.EqualFold(is[:len(tag)], tag) && (len(is) == len(tag) || is[len(tag)] == '-') {
			return true
		}
	}
	return false
}

// wrong describes the actual and the required language.
func (l *languageRange) wrong(doc *document.Document) string {
	what := "the page is in"
	if l.field == "text_language" {
		what = "the text is in"
	}
	is := doc.PageText(l.field)
	if is == "" {
		is = "no language that is known"
	}
	return fmt.Sprintf("%s %s, not %s", what, is, strings.Join(l.tags, " or "))
}

// unmet returns the kind of condition that does not hold, one of messages.LeftOutReasons, and the
// reason. The reason is "" if languages and noindex are as required.
func (c *condition) unmet(doc *document.Document) (sort, why string) {
	for _, l := range c.languages {
		if !l.has(doc) {
			return l.field, l.wrong(doc)
		}
	}
	if c.noindex != nil && *c.noindex != asksNotToBeIndexed(doc) {
		return "condition", map[bool]string{true: "the page may be indexed", false: "the page asks not to be indexed"}[*c.noindex]
	}
	return "condition", ""
}
