package messages

import (
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
)

// Kinds of a VisitRecord.
const (
	KindGone  = "gone"  // the page is not at its URL any more
	KindVisit = "visit" // the page is there, and the visit made no records of it
)

// VisitRecord is a message on RECORDS, and a line of the output, for a visit that made no
// records of a page which has records of an earlier visit. It has no key, and stands for all
// records of the page.
type VisitRecord struct {
	Kind      string    `json:"kind"` // records of rules begin with it too
	URL       string    `json:"url"`
	FetchedAt time.Time `json:"fetched_at"` // when the request began
	Crawl     string    `json:"crawl"`
	Visit     Visit     `json:"visit"`
	Run       int64     `json:"run"`
	Status    int       `json:"status"`
	Class     Class     `json:"class"`              // OK or NotModified; of KindGone: Gone or Redirect
	Location  string    `json:"location,omitempty"` // where a redirect leads
	// Same says that the page has not changed: its records are those of the visit before.
	// Otherwise it has none any more.
	Same bool `json:"same,omitempty"`
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
func (r *VisitRecord) Msg(p int) *nats.Msg {
	return RecordMsg(r.Crawl, p, VisitID(r.Crawl, r.Visit)+"."+r.Kind+".0", r.Encode())
}

// Encode returns the record as one line of JSON.
func (r *VisitRecord) Encode() []byte { return Encode(r) }
