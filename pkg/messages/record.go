package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/jsontext"
	"seine/internal/base/lazyregexp"
)

// Record is a message on RECORDS, and a line of the output: what the parser
// makes of a page when the spec has no rules. A writer stores the payload
// byte for byte, so a custom parser may send any JSON object, as long as
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
	Run         int64     `json:"run"` // when the run was due, Unix seconds; the first is 0, or when a crawl of the name was deleted
	// DuplicateOf is the visit of the page that this one repeats, if the spec has
	// that told.
	DuplicateOf Visit `json:"duplicate_of,omitzero"`
	// Metadata is that of the seed which the page is of, if it has any: see Seed.
	Metadata Metadata `json:"metadata,omitempty"`
	// Pages is how many pages a PDF has, slides a presentation or sheets a workbook.
	Pages int `json:"pages,omitempty"`
	// NoText is why a PDF or an office file has no text: scanned, empty, encrypted, damaged, unsupported or too_large.
	NoText string `json:"no_text,omitempty"`
	// Truncated names the fields that are cut: the text, if it is longer than --max-text.
	Truncated []string `json:"truncated,omitempty"`
	// Cut and RenderProblems are those of the Page.
	Cut            string         `json:"cut,omitempty"`
	RenderProblems RenderProblems `json:"render_problems,omitempty"`
}

// Msg returns the message for partition p.
func (r *Record) Msg(p int) *nats.Msg {
	return RecordMsg(r.Crawl, p, VisitID(r.Crawl, r.Visit), r.Encode())
}

// Encode returns the record as one line of JSON.
func (r *Record) Encode() []byte { return Encode(r) }

// RecordMsg returns the message of a record, a line of JSON, for partition p. The
// id is unique to the record, and the same when it is made again.
func RecordMsg(crawl string, p int, id string, line []byte) *nats.Msg {
	m := nats.NewMsg(SubjectRecords(crawl, p))
	m.Header.Set(nats.MsgIdHdr, id)
	m.Header.Set(HeaderRecord, strconv.Itoa(Version))
	m.Data = line
	return m
}

// HeaderRecord marks a record that Seine has encoded, and so one that need not be
// parsed to be checked.
const HeaderRecord = "Seine-Record"

// HeaderSpec is the revision of the spec that a record was made by: what its fields are
// may be of a spec that a writer has not heard of yet.
const HeaderSpec = "Seine-Spec"

// SetSpecRevision has a record say the revision of its spec, which is 0 for none.
func SetSpecRevision(m *nats.Msg, rev uint64) {
	if rev > 0 {
		m.Header.Set(HeaderSpec, strconv.FormatUint(rev, 10))
	}
}

// SpecRevision returns the revision that a record says, 0 if it says none.
func SpecRevision(header nats.Header) uint64 {
	rev, _ := strconv.ParseUint(header.Get(HeaderSpec), 10, 64)
	return rev
}

// KindPage is the kind of the record of a page, which does not say it.
const KindPage = "page"

// KindAnswer is the kind of an answer that is no page, in files that have both.
const KindAnswer = "answer"

// KindOther stands for kinds that are not told apart.
const KindOther = "other"

// RecordKind returns the kind that a record says it is of, "page" if it says
// none, and KindOther for what is not a name.
func RecordKind(header nats.Header, line []byte) string {
	var r struct {
		Kind string `json:"kind"`
	}
	if header.Get(HeaderRecord) == "" {
		_ = jsontext.Unmarshal(line, &r) // who checks the record says what is wrong
	} else if rest, ok := bytes.CutPrefix(line, []byte(`{"kind":"`)); ok { // as Seine's own begin
		r.Kind = string(rest[:max(bytes.IndexByte(rest, '"'), 0)])
	}
	return CountedKind(r.Kind)
}

// CountedKind returns the kind that a record counts as which names one, or none.
func CountedKind(named string) string {
	switch {
	case named == "":
		return KindPage
	case !ValidKind(named):
		return KindOther
	}
	return named
}

// ValidKind reports whether a kind of record may be named so: it stands in names of files,
// tables and metrics.
func ValidKind(kind string) bool { return kindName().MatchString(kind) }

var kindName = lazyregexp.New(`^[a-z][a-z0-9_]{0,62}$`)

// CheckRecord reports what is wrong with a message on RECORDS: it must be one
// JSON object without a line break, and have an identity. Of one with HeaderRecord
// it looks at the ends of the object and for line breaks.
func CheckRecord(header nats.Header, payload []byte) error {
	if header.Get(nats.MsgIdHdr) == "" {
		return fmt.Errorf("record has no %s header, which identifies duplicates", nats.MsgIdHdr)
	}
	whole := bytes.HasSuffix(payload, []byte("}"))
	if header.Get(HeaderRecord) == "" {
		whole = json.Valid(payload)
	}
	if !whole || payload[0] != '{' {
		return fmt.Errorf("record is not a JSON object")
	}
	if bytes.IndexByte(payload, '\n') >= 0 || bytes.IndexByte(payload, '\r') >= 0 {
		return fmt.Errorf("record has a line break between its fields: send it on one line")
	}
	return nil
}
