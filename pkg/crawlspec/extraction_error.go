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

// Error returns the path and what is wrong there.
func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// FieldErrors returns the errors of keys that err is made of, in their order.
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

// Problems collects what is wrong with the keys of a spec.
type Problems []error

// Add notes what is wrong with the key at path; nil is nothing.
func (p *Problems) Add(path string, err error) {
	if err != nil {
		*p = append(*p, &FieldError{Path: path, Err: err})
	}
}

// Addf notes what is wrong with the key at path.
func (p *Problems) Addf(path, format string, args ...any) {
	p.Add(path, fmt.Errorf(format, args...))
}

// Err joins them, nil if there are none.
func (p Problems) Err() error { return errors.Join(p...) }

// oneOf reports a value that is not in the list.
func (p *Problems) oneOf(path, value string, those []string) {
	for _, v := range those {
		if v == value {
			return
		}
	}
	meant := ""
	if near := suggest.Name(value, those); near != "" && len(those) > 15 { // a short list is read
		meant = "did you mean " + near + "? It "
	}
	p.Addf(path, "%q: %smust be one of %s", messages.Clip(value), meant, strings.Join(those, ", "))
}
