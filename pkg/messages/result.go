package messages

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"time"
)

// Result is a message on RESULTS: the outcome of one request.
type Result struct {
	V       int    `json:"v"`
	Crawl   string `json:"crawl"`
	Rev     uint64 `json:"rev,omitempty"`
	URL     string `json:"url"`
	Visit   Visit  `json:"visit"`
	Attempt int    `json:"attempt"`
	Run     int64  `json:"run,omitempty"` // that of the request
	// Depth, Redirects and Referrer are those of the request: how the URL was found, for the log of
	// requests.
	Depth     int    `json:"depth,omitempty"`
	Redirects int    `json:"redirects,omitempty"`
	Referrer  string `json:"referrer,omitempty"`
	Class     Class  `json:"class"`
	Status    int    `json:"status,omitempty"` // HTTP status; 0 if there was no response
	Error     string `json:"error,omitempty"`  // error message for users
	// Detail refines Class for programs: which limit, which timeout. docs/reference/wire.md lists
	// the values.
	Detail Detail `json:"detail,omitempty"`
	// Location is the canonical target of a redirect. The fetcher has already published it as a
	// candidate.
	Location    string    `json:"location,omitempty"`
	ContentType string    `json:"content_type,omitempty"`
	Started     time.Time `json:"started"`
	Timings     Timings   `json:"timings,omitzero"`
	BytesWire   int64     `json:"bytes_wire,omitempty"` // of the body, as received
	BytesBody   int64     `json:"bytes_body,omitempty"` // of the body, decoded
	IP          string    `json:"ip,omitempty"`
	Protocol    string    `json:"protocol,omitempty"` // "HTTP/1.1", "HTTP/2.0"
	// RetryAfter is how long the host asked to wait, in milliseconds.
	RetryAfter Millis `json:"retry_after_ms,omitempty"`
	// CrawlDelay is the Crawl-delay of the host's robots.txt, in milliseconds; nil if this request
	// did not read it.
	CrawlDelay *Millis `json:"crawl_delay_ms,omitempty"`
	// Age is the time from the end of the response until this result was made, in milliseconds: the
	// host's delay counts from the end of the response. It requires no synchronized clocks.
	Age Millis `json:"age_ms,omitempty"`
	// ETag and LastModified are the validators of the response, for the next visit; omitted if they
	// are too long.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// Digest is the start of the SHA-256 of the decoded body, in hexadecimal, to detect changes of
	// a page.
	Digest string `json:"digest,omitempty"`
	// Rendered is why the page was rendered in a browser, for users, "" if it was not. Requisites
	// is the number of requests for its resources, whose bodies count in BytesWire.
	Rendered   string `json:"rendered,omitempty"`
	Requisites int    `json:"requisites,omitempty"`
	// Actions are the outcomes of the spec's actions on the page, for users.
	Actions string `json:"actions,omitempty"`
	// NotRendered is why a page that the spec may want rendered was not, for users.
	NotRendered string `json:"not_rendered,omitempty"`
	// RenderProblems are the problems during rendering.
	RenderProblems RenderProblems `json:"render_problems,omitempty"`
	// GoneRecord means that a VisitRecord of KindGone was published.
	GoneRecord bool   `json:"gone_record,omitempty"`
	Fetcher    string `json:"fetcher,omitempty"` // instance, for users
}

// Timings are the phases of a request, in milliseconds.
type Timings struct {
	DNS       Millis `json:"dns_ms,omitempty"`
	Connect   Millis `json:"connect_ms,omitempty"`
	TLS       Millis `json:"tls_ms,omitempty"`
	FirstByte Millis `json:"first_byte_ms,omitempty"`
	Total     Millis `json:"total_ms,omitempty"`
}

// ID returns the Nats-Msg-Id of the result, which is that of its request.
func (r *Result) ID() string { return attemptID(r.Crawl, r.Visit, r.Attempt) }

// Encode returns the message's payload.
func (r *Result) Encode() []byte {
	r.V = Version
	r.Error, r.Rendered, r.NotRendered, r.Actions = Clip(r.Error), Clip(r.Rendered), Clip(r.NotRendered), Clip(r.Actions)
	return Encode(r)
}

// DecodeResult decodes a message on RESULTS.
func DecodeResult(payload []byte) (*Result, error) {
	r := new(Result)
	if err := cmp.Or(Decode(payload, r, &r.V), r.check()); err != nil {
		return nil, fmt.Errorf("decode result: %w", err)
	}
	return r, nil
}

func (r *Result) check() error {
	switch {
	case len(r.Detail) > maxDetail:
		return fmt.Errorf("detail has %d bytes: at most %d", len(r.Detail), maxDetail)
	case !r.Class.Valid():
		return fmt.Errorf("unknown class %q", r.Class)
	case r.Run < 0:
		return fmt.Errorf("run %d: must not be negative", r.Run)
	case r.BytesWire < 0:
		return fmt.Errorf("bytes_wire %d: must not be negative", r.BytesWire)
	case r.Requisites < 0:
		return fmt.Errorf("requisites %d: must not be negative", r.Requisites)
	case r.BytesBody < 0:
		return fmt.Errorf("bytes_body %d: must not be negative", r.BytesBody)
	}
	return cmp.Or(checkVisited(r.Crawl, r.URL, r.Visit, r.Attempt),
		checkText("error", r.Error), checkText("rendered", r.Rendered), checkText("not_rendered", r.NotRendered),
		r.RenderProblems.check(), checkText("actions", r.Actions), checkValidators(r.ETag, r.LastModified), checkDigest(r.Digest))
}

// digestSize is how many bytes of the hash make a digest.
const digestSize = 16

// Digest returns the digest of a body by its SHA-256.
func Digest(sum []byte) string { return hex.EncodeToString(sum[:digestSize]) }

func checkDigest(d string) error {
	if b, err := hex.DecodeString(d); d != "" && (err != nil || len(b) != digestSize) {
		return fmt.Errorf("digest %q: must be %d hexadecimal digits", Clip(d), 2*digestSize)
	}
	return nil
}
