package httpclient

import "time"

// Request is what is to be asked for, and what that may take. No exchange changes it.
// What is sent for it is in build_request.go.
type Request struct {
	URL    string // canonical
	Policy *Policy
	// CookieJar names the cookies that are sent and kept, where the spec wants any: each
	// crawl has its own.
	CookieJar string
	// Spacing is the least time from the start of a request to that of the next one to
	// the host.
	Spacing time.Duration
	Timeout time.Duration // of all of the exchange
	MaxBody int64         // bytes, as they come and decoded
	// ETag and LastModified make the request conditional, if they are set.
	ETag, LastModified string
	// NoResend is set where the host must see the request no more than once.
	NoResend bool
	// StillValid, if set, is asked when the request is about to be sent: if it reports
	// false, the request is not sent, and the end is ErrNotSent.
	StillValid func() bool
	// Archive keeps request and response as they went over the wire.
	Archive bool
	// Object is what a large body is stored as; "" keeps it in memory.
	Object string
	// Named is set where the URL is a seed, or was named as a sitemap: it may be a sitemap or a feed.
	Named bool
	// Robots is set for a robots.txt: of any type, cut where it is too long, and
	// requested by a plain GET.
	Robots bool
}

// conditional reports whether the answer may be that nothing has changed.
func (r *Request) conditional() bool { return r.ETag != "" || r.LastModified != "" }
