package messages

import (
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
)

// KindGone is the kind of a GoneRecord.
const KindGone = "gone"

// GoneRecord is a message on RECORDS, and a line of the output, that tells of a page which
// records were made of: it is not at its URL any more. It has no key, and stands for all
// records of the page.
type GoneRecord struct {
	Kind      string    `json:"kind"` // KindGone; records of rules begin with it too
	URL       string    `json:"url"`
	FetchedAt time.Time `json:"fetched_at"` // when the request began that found nothing there
	Crawl     string    `json:"crawl"`
	Visit     Visit     `json:"visit"`
	Status    int       `json:"status"`
	Class     Class     `json:"class"`              // Gone, or Redirect
	Location  string    `json:"location,omitempty"` // where a redirect leads
	// Metadata is that of the seed which the page is of, if it has any.
	Metadata Metadata `json:"metadata,omitempty"`
}

// IsGone reports whether an answer says that what was at a URL is not there any more. A
// redirect does if it is for good: one for the time being may lead to a notice, and the
// page comes back.
func IsGone(class Class, status int) bool {
	return class == Gone || class == Redirect && (status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect)
}

// Msg returns the message for partition p. A visit has one such record at most.
func (r *GoneRecord) Msg(p int) *nats.Msg {
	return RecordMsg(r.Crawl, p, VisitID(r.Crawl, r.Visit)+"."+KindGone+".0", r.Encode())
}

// Encode returns the record as one line of JSON.
func (r *GoneRecord) Encode() []byte {
	r.Kind = KindGone
	return Encode(r)
}
