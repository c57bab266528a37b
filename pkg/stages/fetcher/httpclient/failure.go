package httpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"seine/pkg/messages"
)

// Failure is an error that knows the class of the result it makes, in words
// for a person.
type Failure struct {
	Class  messages.Class
	Text   string
	Detail messages.Detail

	cause error // nil if it is not wanted
}

// Unwrap returns the refusal of the address guard that is behind it, if one is.
func (f *Failure) Unwrap() error { return f.cause }

// Error is the text.
func (f *Failure) Error() string { return f.Text }

// in adds a detail.
func (f *Failure) in(d messages.Detail) *Failure {
	f.Detail = d
	return f
}

// Failf returns a failure with a text for a person.
func Failf(class messages.Class, format string, args ...any) *Failure {
	return &Failure{Class: class, Text: fmt.Sprintf(format, args...)}
}

// misfit is the failure of a request that cannot be made of its spec.
func misfit(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return Failf(messages.Misconfigured, "%v", err)
}

// failureOf finds what went wrong with an exchange. What ended its context
// comes first: all else follows from that. classify makes a failure of another error.
func failureOf(ctx context.Context, err error, classify func(error) *Failure) *Failure {
	for _, known := range []error{context.Cause(ctx), err} {
		if f, ok := errors.AsType[*Failure](known); ok {
			return f
		}
	}
	return classify(err)
}

// networkFailure classifies what net/http returns from a connection before the
// response has a header. Some of its errors have no type, only a text.
func networkFailure(err error) *Failure {
	text := strings.TrimPrefix(err.Error(), "net/http: ")
	switch {
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "header list"):
		return Failf(messages.TooLarge, "response header is over the limit: %s", text).in(messages.DetailHeader)
	case errors.Is(err, io.EOF), strings.Contains(text, "server closed idle connection"),
		strings.Contains(text, "cannot rewind body"),            // of a oneShotBody
		strings.Contains(text, "conn could not be established"): // of HTTP/2, which was closed under the first request
		return Failf(messages.ConnectFailure, "the server closed the connection without a response").in(messages.DetailReset)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Failf(messages.ConnectFailure, "the connection was reset before a response").in(messages.DetailReset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Failf(messages.ProtocolError, "the response header was cut short")
	}
	return Failf(messages.ProtocolError, "not a valid HTTP response: %s", text)
}

// bodyFailure classifies an error of the connection within a body.
func bodyFailure(err error) *Failure {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return Failf(messages.ProtocolError, "the body was cut short").in(messages.DetailCut)
	}
	if errors.Is(err, syscall.ECONNRESET) {
		return Failf(messages.ProtocolError, "the connection was reset within the body").in(messages.DetailCut)
	}
	return Failf(messages.ProtocolError, "the body ended with an error: %v", err)
}
