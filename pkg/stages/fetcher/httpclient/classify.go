package httpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Failure is an error that knows the class of the result it makes, in words
// for a person.
type Failure struct {
	Class  messages.Class
	Text   string
	Detail messages.Detail
}

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
// comes first: all else follows from that.
func failureOf(ctx context.Context, err error) *Failure {
	if f, ok := errors.AsType[*Failure](context.Cause(ctx)); ok {
		return f
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return networkFailure(err)
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
func bodyFailure(ctx context.Context, err error) *Failure {
	if f, ok := errors.AsType[*Failure](context.Cause(ctx)); ok {
		return f
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return Failf(messages.ProtocolError, "the body was cut short").in(messages.DetailCut)
	}
	if errors.Is(err, syscall.ECONNRESET) {
		return Failf(messages.ProtocolError, "the connection was reset within the body").in(messages.DetailCut)
	}
	return Failf(messages.ProtocolError, "the body ended with an error: %v", err)
}

// classOf returns the class of a response by its status, and in words what is
// not well about it. A redirect is one only if its Location proves usable.
func classOf(status int, h http.Header) (messages.Class, string) {
	class := statusClass(status, h)
	if class == messages.OK || class == messages.NotModified || class == messages.Redirect {
		return class, ""
	}
	text := strconv.Itoa(status)
	if name := http.StatusText(status); name != "" {
		text += " " + name
	}
	if class == messages.ProtocolError {
		text += " is not the status of an answer"
	}
	return class, text
}

func statusClass(status int, h http.Header) messages.Class {
	switch status {
	case 301, 302, 303, 307, 308:
		return messages.Redirect
	case 304:
		return messages.NotModified
	case 404, 410:
		return messages.Gone
	case 408, 425:
		return messages.ServerError
	case 429:
		return messages.Throttled
	case 503:
		if h.Get("Retry-After") != "" {
			return messages.Throttled
		}
	}
	switch {
	case status >= 200 && status < 300:
		return messages.OK
	case status >= 300 && status < 500:
		return messages.ClientError
	case status >= 500 && status < 600:
		return messages.ServerError
	}
	return messages.ProtocolError
}

// maxRetryAfter bounds what a host may ask for: more does not travel.
const maxRetryAfter = time.Duration(messages.MaxMillis)

// retryAfter returns how long a response asks to be left alone (RFC 9110
// 10.2.3), 0 if it does not or what it says means nothing: a number that is
// negative or has a fraction, a date that has passed. A date, in any of the three
// forms of HTTP, is read against the server's own clock where the response tells
// it.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, min(at.Sub(now), maxRetryAfter))
}

// accepts is the list of content types that are kept.
type accepts []string

// keeps reports whether a type without parameters is in the list.
func (a accepts) keeps(t string) bool { return crawlspec.InMediaRanges(a, t) }

// and returns the list with more types.
func (a accepts) and(types []string) accepts {
	all := slices.Clone(a)
	for _, t := range types {
		if !all.keeps(t) {
			all = append(all, t)
		}
	}
	return all
}

// header is the value of Accept. Other types come last rather than never, or a
// strict server would refuse to send a robots.txt.
func (a accepts) header() string {
	if a.keeps("*/*") {
		return strings.Join(a, ",")
	}
	return strings.Join(a, ",") + ",*/*;q=0.1"
}
