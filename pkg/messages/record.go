package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Record is a message on RECORDS, and a line of the output: what the parser
// makes of a page when the spec has no rules. A writer stores the payload
// byte for byte, so a parser of one's own may send any JSON object, as long as
// its Nats-Msg-Id is unique to the record and the same after a repeat.
type Record struct {
	URL         string    `json:"url"`
	Status      int       `json:"status"`
	ContentType string    `json:"content_type"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Canonical   string    `json:"canonical"` // as the page declares it, absolute
	Language    string    `json:"language"`  // as the page declares it
	Charset     string    `json:"charset"`   // that the body was read with
	NoIndex     bool      `json:"noindex"`   // the page asks not to be indexed
	Text        string    `json:"text"`
	FetchedAt   time.Time `json:"fetched_at"`
	Depth       int       `json:"depth"`
	Referrer    string    `json:"referrer"`
	Crawl       string    `json:"crawl"`
	Visit       Visit     `json:"visit"`
}

// Msg returns the message for partition p.
func (r *Record) Msg(p int) *nats.Msg {
	m := nats.NewMsg(SubjectRecords(r.Crawl, p))
	m.Header.Set(nats.MsgIdHdr, VisitID(r.Crawl, r.Visit))
	m.Data = plainJSON(r)
	return m
}

// plainJSON encodes v without escaping <, > and &: records are not put into
// HTML, and text full of them would be much longer.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// CheckRecord reports what is wrong with a message on RECORDS: it must be one
// JSON object without a line break, and have an identity.
func CheckRecord(header nats.Header, payload []byte) error {
	if header.Get(nats.MsgIdHdr) == "" {
		return fmt.Errorf("record has no %s header: without it a repeat cannot be told", nats.MsgIdHdr)
	}
	if len(payload) == 0 || payload[0] != '{' || !json.Valid(payload) {
		return fmt.Errorf("record is not a JSON object")
	}
	if bytes.IndexByte(payload, '\n') >= 0 || bytes.IndexByte(payload, '\r') >= 0 {
		return fmt.Errorf("record has a line break between its fields: send it on one line")
	}
	return nil
}
