package extract

import (
	"fmt"
	"strings"

	"seine/internal/page/document"
)

// languageRange is the languages of which a document must have one.
type languageRange struct {
	field string // of a page, that has it
	tags  []string
}

// has reports whether the language of a document is one of those, or a kind of one: en-GB
// is English (RFC 4647, section 3.3.1).
func (l *languageRange) has(doc *document.Document) bool {
	is := strings.ReplaceAll(doc.PageText(l.field), "_", "-")
	for _, tag := range l.tags {
		if len(is) >= len(tag) && strings.EqualFold(is[:len(tag)], tag) && (len(is) == len(tag) || is[len(tag)] == '-') {
			return true
		}
	}
	return false
}

// wrong says what is, and what was to be.
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

// unmet says which sort of a condition does not hold, one of messages.LeftOutReasons, and why: "" if
// languages and noindex are as it asks.
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
