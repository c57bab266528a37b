package pageproxy

import (
	"net/http"
	"time"
)

// maxRequestBody bounds the recorded body of a request, in bytes.
const maxRequestBody = 64 << 10

// Exchange is a request that was sent to the web, and its response.
type Exchange struct {
	Method string
	// URL is absolute, as written by the browser. For a WebSocket it has the scheme http or https.
	URL string
	// Destination is the purpose of the request, from Sec-Fetch-Dest ("script", "image"); "" if the
	// browser does not state it, as for plain http sites.
	Destination   string
	RequestHeader http.Header
	// RequestBody is the first 64 KiB of the request's body.
	RequestBody []byte
	// Remote is the IP address of the connection: the site's, or that of a proxy of the transport;
	// "" if unknown.
	Remote string
	// Started is when permission was given. Duration lasts until the browser had the response, or
	// until the exchange was abandoned.
	Started  time.Time
	Duration time.Duration

	// Status is 0 if there was no response; then Err has the reason.
	Status int
	Proto  string // of the response, such as "HTTP/1.1"
	Header http.Header
	// Body is as received on the wire, in its content coding. For a WebSocket it is empty.
	Body []byte
	// Truncated is set if Body is incomplete: it was longer than MaxRecorded, or was not read to
	// its end, for the reason in Err. Browsers do not read the body of a redirect; a body up to 64
	// KiB with a known length is nevertheless complete.
	Truncated bool
	// Err is the reason for a missing or incomplete response: also that the browser abandoned it,
	// or that the visit ended or reached a limit.
	Err error
}
