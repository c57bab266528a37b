package extract

import (
	"fmt"
	"math"
	"regexp"
	"sync"

	"github.com/antchfx/xpath"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/regexbound"
)

// A function of an XPath expression processes a text in one call, which cannot be interrupted. So
// its texts are limited, in bytes, with a lower limit for expressions that have regular
// expressions.
const (
	maxTextXPath = 2 << 20
	maxTextJoin  = 8 << 20 // of all texts, which are joined into one
	maxTextRegex = 256 << 10
	// maxTextReplace is the limit of a text in which all matches are searched, where each search
	// may read to the end of the text.
	maxTextReplace = 2 << 10
)

// textLimit is the limit of an expression.
type textLimit struct {
	each, all int
	regex     bool // the limit is for regular expressions
}

// exceeded returns the error for a longer text.
func (l *textLimit) exceeded() error {
	if l.regex {
		return fmt.Errorf("%w: matches() or replace() in an XPath was applied to a node with more than %d bytes of text: use regex or replace of the field",
			errBound, l.each)
	}
	return fmt.Errorf("%w: an XPath was applied to a node with more than %d bytes of text", errBound, min(l.all, l.each))
}

var (
	// ofRegex matches functions that take regular expressions, and ofMatches the one that searches
	// for all matches.
	ofRegex   = lazyregexp.New(`\b(matches|replace)\s*\(`)
	ofMatches = lazyregexp.New(`\breplace\s*\(`)
	ofJoin    = lazyregexp.New(`\bstring-join\s*\(`)
	ofJoined  = lazyregexp.New(`\b(matches|replace)\s*\([^'"]*\bstring-join\s*\(`)
	// ofLiteral matches literals, which have no escapes.
	ofLiteral = lazyregexp.New(`"([^"]*)"|'([^']*)'`)
)

// limitOf determines the limit from the text of an expression.
func limitOf(text string) textLimit {
	limit := textLimit{each: maxTextXPath, all: math.MaxInt}
	if ofJoin().MatchString(text) {
		limit.all = maxTextJoin
	}
	if !ofRegex().MatchString(text) {
		return limit
	}
	limit.each, limit.regex = maxTextRegex, true
	for _, m := range ofLiteral().FindAllStringSubmatch(text, -1) {
		re, err := regexbound.Compile(m[1] + m[2])
		if err != nil {
			continue
		}
		ofRules.Store(m[1]+m[2], true)
		limit.each = min(limit.each, maxTextRegex/(re.Work("x")-1))
		if ofMatches().MatchString(text) && !re.Linear() {
			limit.each = min(limit.each, maxTextReplace)
		}
	}
	if ofJoined().MatchString(text) {
		limit.all = limit.each
	}
	return limit
}

// ofRules are the regular expressions that rules have as XPath literals, whose texts are limited.
// All others are made from content of pages.
var ofRules sync.Map

// init installs a cache, since the library keeps the regular expressions of all expressions. Those
// from pages must be simple.
func init() {
	const kept, most = 1024, 16
	xpath.RegexpCache = xpath.NewLoadingCache(func(key any) (any, error) {
		text, _ := key.(string)
		if _, ok := ofRules.Load(text); ok {
			return regexp.Compile(text)
		}
		re, err := regexbound.CompileSmall(text, most)
		if err == nil && !re.Linear() {
			err = fmt.Errorf("%w: it is not from the rule, and too complex", regexbound.ErrLarge)
		}
		if err != nil {
			return nil, err
		}
		return re.Regexp, nil
	}, kept)
}
