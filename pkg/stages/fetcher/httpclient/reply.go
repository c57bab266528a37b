package httpclient

import (
	"errors"
	"net/http"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// Reply is how an exchange ended. What it has beside its class and text depends on how
// far the exchange came.
type Reply struct {
	URL         string // that was asked for
	Class       messages.Class
	Text        string // what is not well, for a person
	Detail      messages.Detail
	Status      int
	Header      http.Header
	ContentType string // as received, else as it looks
	Body        Body   // only if class is OK
	BytesWire   int64
	Started     time.Time
	Timings     messages.Timings
	IP          string
	Protocol    string
	RetryAfter  time.Duration
	// Validators as received, and the digest of Body.
	ETag, LastModified, Digest string
	// Cookie is what of the cookies that were kept went with the request.
	Cookie string
	// Request and Head are the exchange as it went over the wire, if that is to
	// be archived.
	Request, Head []byte
	// Source is the address that the exchange which is archived went to. IP may have been
	// changed since, by who counts several exchanges as one.
	Source string
	// Answer is the body of an archived response that is not a page: as received, or
	// decoded if Head says so. Truncated says why it is incomplete.
	Answer    []byte
	Truncated messages.Truncation

	hidden *redactor
	loan   memoryReservation // of body
}

// Body is what came, as it will be kept.
type Body struct {
	Data     []byte // unless it is stored
	Object   string // it is stored as, "" if it is not
	Encoding string // of Data or of what is stored
	Size     int64  // decoded

	decoded *decodedBody // nil if it is not held
}

// Decoded returns the body without its content codings, nil if it is not held so. It is valid until ReleaseDecoded or Reply.Release.
func (b *Body) Decoded() []byte {
	switch {
	case b.decoded != nil:
		return b.decoded.data
	case b.Encoding == "":
		return b.Data
	}
	return nil
}

// Unsent is the reply of a request that was not sent.
func Unsent(f *Failure) *Reply {
	r := &Reply{Started: time.Now()}
	r.Failed(f)
	return r
}

// Failed makes a failure of how the exchange ended.
func (r *Reply) Failed(f *Failure) { r.Class, r.Text, r.Detail = f.Class, f.Text, f.Detail }

// Shrink gives back the memory that the body does not need once it has so many
// bytes, by compression, or since it is stored.
func (r *Reply) Shrink(size int) { r.loan.shrink(size) }

// Release gives back the memory of the body. It may be called again.
func (r *Reply) Release() {
	r.loan.release()
	r.Body.ReleaseDecoded()
}

// ReleaseDecoded gives back the memory of what Decoded returns. It may be called again.
func (b *Body) ReleaseDecoded() {
	if d := b.decoded; d != nil {
		b.decoded = nil
		d.release()
	}
}

var errNoLocation = errors.New("the response names no Location")

// Target returns where a redirect leads: canonical, and without the secrets of the spec.
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
