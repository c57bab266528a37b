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

// Failure is an error with the class of its result, and a text for users.
type Failure struct {
	Class  messages.Class
	Text   string
	Detail messages.Detail

	cause error // nil if not needed
}

// Unwrap returns the cause: a refusal of the address guard, or nil.
func (f *Failure) Unwrap() error { return f.cause }

// Error returns the text.
func (f *Failure) Error() string { return f.Text }

// in sets the detail.
func (f *Failure) in(d messages.Detail) *Failure {
	f.Detail = d
	return f
}

// Failf returns a failure with a text for users.
func Failf(class messages.Class, format string, args ...any) *Failure {
	return &Failure{Class: class, Text: fmt.Sprintf(format, args...)}
}

// misfit returns the failure of a request that cannot be built from its spec.
func misfit(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return Failf(messages.Misconfigured, "%v", err)
}

// failureOf returns the failure of an exchange. The cause of its context comes first: all else
// follows from that. classify converts other errors.
func failureOf(ctx context.Context, err error, classify func(error) *Failure) *Failure {
	for _, known := range []error{context.Cause(ctx), err} {
		if f, ok := errors.AsType[*Failure](known); ok {
			return f
		}
	}
	return classify(err)
}

// networkFailure classifies an error of net/http before the header of the response. Some of these
// errors have no type, only a text.
func networkFailure(err error) *Failure {
	text := strings.TrimPrefix(err.Error(), "net/http: ")
	switch {
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "header list"):
		return Failf(messages.TooLarge, "response header is over the limit: %s", text).in(messages.DetailHeader)
	case errors.Is(err, io.EOF), strings.Contains(text, "server closed idle connection"),
		strings.Contains(text, "cannot rewind body"),            // because of a oneShotBody
		strings.Contains(text, "conn could not be established"): // HTTP/2, closed during the first request
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
