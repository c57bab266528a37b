package robots

import (
	"strings"
	"time"

	"seine/internal/base/dates"
)

// Directives are a page's instructions to crawlers, in its header or its markup. They only ever
// restrict: of several, the strictest counts. No RFC defines them. The words are those that Google
// documents for its robots meta tag and X-Robots-Tag, and of them only the ones that a crawler can
// obey.
type Directives struct {
	NoIndex  bool // do not show the page in search results
	NoFollow bool // do not follow its links
}

// MetaDirectives parses the content of a meta element whose name is "robots" or the crawler's. An
// unavailable_after before now counts as noindex.
func MetaDirectives(content string, now time.Time) Directives {
	l := list{now: now}
	l.read(content)
	return l.found
}

// HeaderDirectives parses the values of X-Robots-Tag for the crawler with a product token. A value
// may name the crawlers that it addresses, as in "a: noindex, b: nofollow"; a name applies until
// the end of the value or the next name. Directives before any name apply to all.
func HeaderDirectives(values []string, product string, now time.Time) Directives {
	l := list{named: true, product: productToken(product), now: now}
	for _, v := range values {
		l.others = false
		l.read(v)
	}
	return l.found
}

// list parses lists of directives.
type list struct {
	named   bool   // names of crawlers may occur
	product string // product token of this crawler
	now     time.Time
	// others is true after the name of another crawler.
	others bool
	found  Directives
}

const (
	spaces     = whitespace + lineEnds
	separators = spaces + ","
)

// read parses word by word, because commas are often forgotten. A word before a colon is a
// directive with a value, or the name of a crawler.
func (l *list) read(text string) {
	for {
		text = strings.TrimLeft(text, separators)
		if text == "" {
			return
		}
		var word string
		word, text = cutAny(text, separators+":")
		if value, ok := strings.CutPrefix(strings.TrimLeft(text, spaces), ":"); ok {
			text = l.colon(word, value)
		} else {
			l.directive(word)
		}
	}
}

func (l *list) directive(word string) {
	switch {
	case l.others:
	case strings.EqualFold(word, "none"):
		l.found = Directives{NoIndex: true, NoFollow: true}
	case strings.EqualFold(word, "noindex"):
		l.found.NoIndex = true
	case strings.EqualFold(word, "nofollow"):
		l.found.NoFollow = true
	}
}

// colon handles the word before a colon and the value of a directive after it, and returns the rest
// of the text.
func (l *list) colon(name, value string) string {
	const limit = "max-" // -snippet, -image-preview and -video-preview
	switch {
	case strings.EqualFold(name, "unavailable_after"):
		return l.unavailableAfter(value)
	case len(name) > len(limit) && strings.EqualFold(name[:len(limit)], limit):
		// Skip the value too: in "max-image-preview: none" it is not a directive.
		_, rest := cutAny(strings.TrimLeft(value, spaces), separators)
		return rest
	case l.named && isCrawler(name):
		token := productToken(name)
		l.others = token != anyAgent && (token == "" || token != l.product)
	}
	return value
}

// isCrawler distinguishes the name of a crawler from the hours of a date that could not be parsed.
// A name may begin with a digit: product tokens may not, but some do.
func isCrawler(name string) bool {
	return name == anyAgent || strings.ContainsFunc(name, func(r rune) bool { return isTokenRune(r) && r != '-' })
}

// unavailableAfter parses a date from value and returns the rest. The date ends at a comma, which
// may be the one after a weekday. If there is no date the words count as directives, as a missing
// comma might hide a noindex.
func (l *list) unavailableAfter(value string) string {
	text, rest, _ := strings.Cut(value, ",")
	date, ok := dates.Parse(text, time.UTC)
	if !ok {
		more, after, _ := strings.Cut(rest, ",")
		if date, ok = dates.Parse(text+","+more, time.UTC); ok {
			rest = after
		}
	}
	switch {
	case ok && l.now.After(date.Time):
		l.found.NoIndex = l.found.NoIndex || !l.others
	case !ok:
		for word := range strings.FieldsSeq(text) {
			l.directive(word)
		}
	}
	return rest
}

// cutAny cuts s before the first of the octets.
func cutAny(s, octets string) (before, rest string) {
	i := strings.IndexAny(s, octets)
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i:]
}
