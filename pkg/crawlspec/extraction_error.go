package crawlspec

import (
	"errors"
	"fmt"
	"strings"

	"seine/internal/base/suggest"
	"seine/pkg/messages"
)

// FieldError is an error of one key of a spec.
type FieldError struct {
	Path string // as in "records[0].fields.price.css"
	Err  error
}

// Error returns the path and the error.
func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the error without the path.
func (e *FieldError) Unwrap() error { return e.Err }

// FieldErrors returns the errors of keys in err, in order.
func FieldErrors(err error) []*FieldError {
	var all []*FieldError
	if e, ok := err.(*FieldError); ok { //nolint:errorlint // the tree is walked here
		return append(all, e)
	}
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() []error }:
		for _, sub := range e.Unwrap() {
			all = append(all, FieldErrors(sub)...)
		}
	case interface{ Unwrap() error }:
		all = FieldErrors(e.Unwrap())
	}
	return all
}

// Problems collects the errors of a spec's keys.
type Problems []error

// Add adds an error of the key at path, unless it is nil.
func (p *Problems) Add(path string, err error) {
	if err != nil {
		*p = append(*p, &FieldError{Path: path, Err: err})
	}
}

// Addf adds an error of the key at path.
func (p *Problems) Addf(path, format string, args ...any) {
	p.Add(path, fmt.Errorf(format, args...))
}

// Err joins the errors; nil if there are none.
func (p Problems) Err() error { return errors.Join(p...) }

// oneOf reports a value that is not in the list.
func (p *Problems) oneOf(path, value string, those []string) {
	for _, v := range those {
		if v == value {
			return
		}
	}
	meant := ""
	if near := suggest.Name(value, those); near != "" && len(those) > 15 { // users can read a short list
		meant = "did you mean " + near + "? It "
	}
	p.Addf(path, "%q: %smust be one of %s", messages.Clip(value), meant, strings.Join(those, ", "))
}

// between reports a number that is out of bounds, and returns false for it.
func between[T int | float64 | Duration | Bytes](p *Problems, path string, n, least, most T) bool {
	if n >= least && n <= most { // false for NaN
		return true
	}
	p.Addf(path, "%s", shortTimes.Replace(fmt.Sprintf("%v: must be from %v to %v", n, least, most)))
	return false
}

// shortTimes writes durations in the usual short form.
var shortTimes = strings.NewReplacer("h0m0s", "h", "m0s", "m")

// notNegative reports a negative number; hint is the meaning of 0.
func notNegative[T int | int64 | Duration | Bytes](p *Problems, path string, n T, hint string) {
	if n < 0 {
		p.Addf(path, "%v: must not be negative (%s)", n, hint)
	}
}

func (p *Problems) priority(path string, n int) {
	if n < 0 || n > messages.MaxPriority {
		p.Addf(path, "%d: must be from 0 (first) to %d", n, messages.MaxPriority)
	}
}

// memberPath returns the path of a member of a list of n. A list of one may be written without
// brackets.
func memberPath(path string, i, n int) string {
	if n == 1 {
		return path
	}
	return fmt.Sprintf("%s[%d]", path, i)
}

// patterns reports invalid patterns of a list, and a list with too many.
func (p *Problems) patterns(path string, patterns []string, most int) {
	if len(patterns) > most {
		p.Addf(path, "%d patterns: at most %d", len(patterns), most)
		return
	}
	for i, pattern := range patterns {
		at := memberPath(path, i, len(patterns))
		p.long(at, pattern)
		p.pattern(at, pattern)
	}
}

func (p *Problems) pattern(path, pattern string) {
	_, err := CompilePattern(pattern)
	p.Add(path, err)
}

// secretOnly reports a text that is not only the name of a secret.
func (p *Problems) secretOnly(path, value string) {
	if value != "" && value != secretIn(value) {
		p.Add(path, errPlainSecret)
	}
}
