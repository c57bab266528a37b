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
	URL       string
	FetchedAt time.Time // when the request began that found nothing there
	Crawl     string
	Visit     Visit
	Status    int
	Class     Class  // Gone, or Redirect
	Location  string // where a redirect leads
	// Metadata is that of the seed which the page is of, if it has any.
	Metadata Metadata
}

// IsGone reports whether an answer says that what was at a URL is not there any more. A
// redirect does if it is for good: one for the time being may lead to a notice, and the
// page comes back.
func IsGone(class Class, status int) bool {
	return class == Gone || class == Redirect && (status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect)
}

// Msg returns the message for partition p. A visit has one such record at most.
func (r *GoneRecord) Msg(p int) *nats.Msg {
	return RecordMsg(r.Crawl, p, VisitID(r.Crawl, r.Visit)+"."+KindGone+".0", r.AppendJSON(nil))
}

// AppendJSON appends the record as one line of JSON, which begins as those of rules do.
func (r *GoneRecord) AppendJSON(b []byte) []byte {
	o := newObject(b)
	o.Text("kind", KindGone)
	o.Text("url", r.URL)
	o.Time("fetched_at", r.FetchedAt)
	o.Text("crawl", r.Crawl)
	o.Text("visit", r.Visit.String())
	o.Int("status", int64(r.Status))
	o.Text("class", string(r.Class))
	o.TextSet("location", r.Location)
	if len(r.Metadata) > 0 {
		o.Raw("metadata", r.Metadata.AppendJSON(nil))
	}
	return o.End()
}
