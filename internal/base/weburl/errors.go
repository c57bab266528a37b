package weburl

import (
	"errors"
	"fmt"
	"strings"

	"seine/internal/base/truncate"
)

var (
	// ErrInvalid is returned when the input is not an absolute URL, cannot be
	// resolved, or has a host that no parser accepts.
	ErrInvalid = errors.New("invalid URL")

	// ErrScheme is returned for URLs that are not http or https, such as
	// mailto:, javascript: and data: links.
	ErrScheme = errors.New("scheme is not http or https")

	// ErrTooLong is returned when the canonical URL would exceed [MaxLength].
	ErrTooLong = fmt.Errorf("URL is longer than %d bytes", MaxLength)
)

// quoteLength is how much of an input an error shows, in bytes.
const quoteLength = 100

// inputError says why an input was refused. Its text is composed only when
// needed: on a page most refused links are mailto: and javascript:, and
// those errors are not read.
type inputError struct {
	kind   error // one of the sentinels above
	input  string
	reason string // empty when kind says it all
}

func newError(kind error, input, reason string) error {
	return &inputError{kind: kind, input: shorten(input), reason: reason}
}

// Error implements error.
func (e *inputError) Error() string {
	if e.reason == "" {
		return fmt.Sprintf("%v: %q", e.kind, e.input)
	}
	return fmt.Sprintf("%v: %q: %s", e.kind, e.input, e.reason)
}

// Unwrap returns the sentinel.
func (e *inputError) Unwrap() error { return e.kind }

// shorten cuts s at a character boundary near quoteLength.
func shorten(s string) string {
	if len(s) <= quoteLength {
		return s
	}
	return truncate.To(s, quoteLength) + "…"
}

// withHint replaces the error for an absolute URL whose scheme was left out by
// one with a hint. It returns every other error unchanged.
func withHint(err error, text string) error {
	if text == "" {
		return newError(ErrInvalid, text, "empty")
	}
	missing := errors.Is(err, ErrInvalid) && schemeLength(text) == 0 ||
		errors.Is(err, ErrScheme) && isHostPort(text)
	if !missing {
		return err
	}
	reason := "no http:// or https:// in front"
	guess, failed := canonicalize("https://" + strings.TrimPrefix(text, "//"))
	if failed == nil && (text[0] != '/' || strings.HasPrefix(text, "//")) {
		reason += " (did you mean " + shorten(guess) + "?)"
	}
	return newError(ErrInvalid, text, reason)
}

// isHostPort recognises "example.org:8080/x" and "localhost:8080", which by the
// grammar have the schemes "example.org" and "localhost".
func isHostPort(text string) bool {
	name, rest, _ := strings.Cut(text, ":")
	if name != "localhost" && !strings.Contains(name, ".") {
		return false
	}
	return rest != "" && isDigit(rest[0])
}
