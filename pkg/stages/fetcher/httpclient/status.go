package httpclient

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"seine/pkg/messages"
)

// classOf returns the class of a response by its status, and a text that describes the problem. A
// redirect counts as one even if its Location turns out to be invalid.
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
		text += " is not a valid response status"
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

// maxRetryAfter bounds the delay that a host may ask for, since Millis holds no more.
const maxRetryAfter = time.Duration(messages.MaxMillis)

// retryAfter returns how long a response asks to wait (RFC 9110 10.2.3), 0 if it does not or the
// value is invalid: a number that is negative or has a fraction, or a past date. A date, in any of
// the three forms of HTTP, is compared with the server's own clock if the response has a Date.
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
