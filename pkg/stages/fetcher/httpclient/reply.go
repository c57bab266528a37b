package httpclient

import (
	"errors"
	"net/http"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// Reply is the outcome of an exchange. The fields other than class and text depend on how far the
// exchange came.
type Reply struct {
	URL         string // the requested URL
	Class       messages.Class
	Text        string // the problem, for users
	Detail      messages.Detail
	Status      int
	Header      http.Header
	ContentType string // as received, otherwise sniffed
	Body        Body   // only for class OK
	BytesWire   int64
	Started     time.Time
	Timings     messages.Timings
	IP          string
	Protocol    string
	RetryAfter  time.Duration
	// Validators as received, and the digest of Body.
	ETag, LastModified, Digest string
	// Cookie is the part of the kept cookies that was sent with the request.
	Cookie string
	// Request and Head are the wire form of the exchange, if it is to be archived.
	Request, Head []byte
	// Source is the address of the archived exchange. IP may have been changed since, by callers
	// that merge several exchanges.
	Source string
	// Answer is the body of an archived response that is not a page: as received, or decoded if
	// Head says so. Truncated is why it is incomplete.
	Answer    []byte
	Truncated messages.Truncation

	hidden *redactor
	loan   memoryReservation // of body
}

// Body is the body in the form in which it will be kept.
type Body struct {
	Data     []byte // unless stored as Object
	Object   string // name in the object store, "" if it is not there
	Encoding string // of Data or of the stored object
	Size     int64  // decoded

	decoded *decodedBody // nil if it is not held
}

// Decoded returns the body without content codings, nil if it is not held in memory. It is valid
// until ReleaseDecoded or Reply.Release.
func (b *Body) Decoded() []byte {
	switch {
	case b.decoded != nil:
		return b.decoded.data
	case b.Encoding == "":
		return b.Data
	}
	return nil
}

// Unsent returns the reply for a request that was not sent.
func Unsent(f *Failure) *Reply {
	r := &Reply{Started: time.Now()}
	r.Failed(f)
	return r
}

// Failed turns the reply into a failure.
func (r *Reply) Failed(f *Failure) { r.Class, r.Text, r.Detail = f.Class, f.Text, f.Detail }

// Shrink frees the memory that the body no longer needs once it has size bytes in memory, after it
// was compressed or stored.
func (r *Reply) Shrink(size int) { r.loan.shrink(size) }

// Release frees the memory of the body. It may be called again.
func (r *Reply) Release() {
	r.loan.release()
	r.Body.ReleaseDecoded()
}

// ReleaseDecoded frees the memory returned by Decoded. It may be called again.
func (b *Body) ReleaseDecoded() {
	if d := b.decoded; d != nil {
		b.decoded = nil
		d.release()
	}
}

var errNoLocation = errors.New("the response has no Location")

// Target returns the canonical target of a redirect, without the secrets of the spec.
func (r *Reply) Target() (string, error) {
	u, err := resolve(r.URL, r.Header.Get("Location"))
	return r.hidden.url(u), err
}

// resolve returns the canonical target of a redirect.
func resolve(from, location string) (string, error) {
	if location == "" {
		return "", errNoLocation
	}
	base, err := weburl.NewBase(from)
	if err != nil {
		return "", err
	}
	return base.Resolve(weburl.EscapeInvalid(location))
}
