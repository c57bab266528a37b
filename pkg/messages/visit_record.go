package messages

import (
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
)

// Kinds of a VisitRecord.
const (
	KindGone  = "gone"  // the page is no longer at its URL
	KindVisit = "visit" // the page exists, and the visit made no records of it
)

// VisitRecord is a message on RECORDS, and a line of the output, for a visit that made no records
// of a page which has records of an earlier visit. It has no key, and stands for all records of the
// page.
type VisitRecord struct {
	Kind      string    `json:"kind"` // records of rules also begin with it
	URL       string    `json:"url"`
	FetchedAt time.Time `json:"fetched_at"` // when the request began
	Crawl     string    `json:"crawl"`
	Visit     Visit     `json:"visit"`
	Run       int64     `json:"run"`
	Status    int       `json:"status"`
	Class     Class     `json:"class"`              // OK or NotModified; for KindGone: Gone or Redirect
	Location  string    `json:"location,omitempty"` // target of a redirect
	// Same means that the page has not changed: its records are those of the previous visit.
	// Otherwise it no longer has any.
	Same bool `json:"same,omitempty"`
	// Metadata is the metadata of the page's seed, if it has any.
	Metadata Metadata `json:"metadata,omitempty"`
}

// IsGone reports whether a response means that the page at a URL no longer exists. A redirect
// counts only if it is permanent: a temporary one may lead to a notice, and the page comes back.
func IsGone(class Class, status int) bool {
	return class == Gone || class == Redirect && (status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect)
}

// Msg returns the message for partition p. A visit has at most one such record.
func (r *VisitRecord) Msg(p int) *nats.Msg {
	return RecordMsg(r.Crawl, p, VisitID(r.Crawl, r.Visit)+"."+r.Kind+".0", r.Encode())
}

// Encode returns the record as one line of JSON.
func (r *VisitRecord) Encode() []byte { return Encode(r) }
