package httpclient

import "time"

// Request is a request to send, with its limits. Exchanges do not change it. build_request.go turns
// it into an HTTP request.
type Request struct {
	URL    string // canonical
	Policy *Policy
	// CookieJar names the jar of the cookies to send and keep, if the spec wants any: each crawl
	// has its own.
	CookieJar string
	// Spacing is the least time between the starts of two requests to the host.
	Spacing time.Duration
	Timeout time.Duration // of the whole exchange
	MaxBody int64         // bytes, both as received and decoded
	// ETag and LastModified make the request conditional, if set.
	ETag, LastModified string
	// NoResend is set if the host must not receive the request more than once.
	NoResend bool
	// StillValid, if set, is called when the request is about to be sent: if it returns false, the
	// request is not sent, and the error is ErrNotSent.
	StillValid func() bool
	// Archive keeps request and response in their wire form.
	Archive bool
	// Object is the name under which a large body is stored; "" keeps it in memory.
	Object string
	// Named is set if the URL is a seed, or was named as a sitemap: it may be a sitemap or a feed.
	Named bool
	// Robots is set for a robots.txt: accepted with any type, truncated if it is too long, and
	// requested by a plain GET.
	Robots bool
}

// conditional reports whether the response may be 304 Not Modified.
func (r *Request) conditional() bool { return r.ETag != "" || r.LastModified != "" }
