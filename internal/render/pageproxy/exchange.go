package pageproxy

import (
	"net/http"
	"time"
)

// maxRequestBody bounds the body of a request that is recorded, in bytes.
const maxRequestBody = 64 << 10

// Exchange is a request that was sent to the web, and its response.
type Exchange struct {
	Method string
	// URL is absolute, spelt as the browser did. That of a WebSocket has the scheme http or https.
	URL string
	// Destination is what the browser wants it for, by Sec-Fetch-Dest ("script",
	// "image"); "" if it does not say, as to plain http sites.
	Destination   string
	RequestHeader http.Header
	// RequestBody is the first 64 KiB of it.
	RequestBody []byte
	// Remote is the IP address that was connected to: the site's, or that of a proxy that the transport uses; "" if the
	// transport does not tell.
	Remote string
	// Started is when permission was there. Duration lasts until the browser had the response, or
	// until the exchange was abandoned.
	Started  time.Time
	Duration time.Duration

	// Status is 0 if there was no response; then Err says why.
	Status int
	Proto  string // of the response, as in "HTTP/1.1"
	Header http.Header
	// Body is as received on the wire, its content coding kept. That of a WebSocket is empty.
	Body []byte
	// Truncated says that Body is not all of it: it was longer than MaxRecorded,
	// or was not read to its end, of which Err says why. Browsers do not read the body of a redirect; one up to 64 KiB
	// whose length is known is whole all the same.
	Truncated bool
	// Err is why there is no response or no complete one: also that the browser
	// did not want it any more, or that the visit ended or reached a limit.
	Err error
}
