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

// Record is a message on RECORDS, and a line of the output: the record that the parser makes of a
// page if the spec has no rules. A writer stores the payload byte for byte, so a custom parser may
// send any JSON object, as long as its Nats-Msg-Id is unique to the record and the same after a
// repeat.
type Record struct {
	URL         string    `json:"url"`
	Status      int       `json:"status"`
	ContentType string    `json:"content_type"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Canonical   string    `json:"canonical"` // as declared by the page, absolute
	Language    string    `json:"language"`  // as declared by the page
	Charset     string    `json:"charset"`   // with which the body was decoded
	NoIndex     bool      `json:"noindex"`   // the page asks not to be indexed
	Text        string    `json:"text"`
	FetchedAt   time.Time `json:"fetched_at"`
	Depth       int       `json:"depth"`
	Referrer    string    `json:"referrer"`
	Crawl       string    `json:"crawl"`
	Visit       Visit     `json:"visit"`
	Run         int64     `json:"run"` // when the run was due, Unix seconds; 0 for the first, or when an earlier crawl with the name was deleted
	// DuplicateOf is the visit of the page that this one repeats, if the spec asks for it.
	DuplicateOf Visit `json:"duplicate_of,omitzero"`
	// Metadata is the metadata of the page's seed, if it has any: see Seed.
	Metadata Metadata `json:"metadata,omitempty"`
	// Pages is the number of pages of a PDF, slides of a presentation or sheets of a workbook.
	Pages int `json:"pages,omitempty"`
	// NoText is why a PDF or an office file has no text: scanned, empty, encrypted, damaged,
	// unsupported or too_large.
	NoText string `json:"no_text,omitempty"`
	// Truncated names the fields that are cut: the text, if it is longer than --max-text.
	Truncated []string `json:"truncated,omitempty"`
	// Cut and RenderProblems are copied from the Page.
	Cut            string         `json:"cut,omitempty"`
	RenderProblems RenderProblems `json:"render_problems,omitempty"`
}

// Msg returns the message for partition p.
func (r *Record) Msg(p int) *nats.Msg {
	return RecordMsg(r.Crawl, p, VisitID(r.Crawl, r.Visit), r.Encode())
}

// Encode returns the record as one line of JSON.
func (r *Record) Encode() []byte { return Encode(r) }

// RecordMsg returns the message of a record, a line of JSON, for partition p. The id must be unique
// to the record, and the same in every repeat.
func RecordMsg(crawl string, p int, id string, line []byte) *nats.Msg {
	m := nats.NewMsg(SubjectRecords(crawl, p))
	m.Header.Set(nats.MsgIdHdr, id)
	m.Header.Set(HeaderRecord, strconv.Itoa(Version))
	m.Data = line
	return m
}

// HeaderRecord marks a record that Seine encoded and that therefore can be checked without parsing
// it.
const HeaderRecord = "Seine-Record"

// HeaderSpec is the revision of the spec under which a record was made: a writer may not know that
// spec yet.
const HeaderSpec = "Seine-Spec"

// SetSpecRevision sets the spec revision of a record, unless it is 0.
func SetSpecRevision(m *nats.Msg, rev uint64) {
	if rev > 0 {
		m.Header.Set(HeaderSpec, strconv.FormatUint(rev, 10))
	}
}

// SpecRevision returns the spec revision of a record, 0 if it has none.
func SpecRevision(header nats.Header) uint64 {
	rev, _ := strconv.ParseUint(header.Get(HeaderSpec), 10, 64)
	return rev
}

// KindPage is the kind of a page's record, which does not name its kind.
const KindPage = "page"

// KindAnswer is the kind of a response that is not a page, in files with both.
const KindAnswer = "answer"

// KindOther stands for kinds that are not distinguished.
const KindOther = "other"

// RecordKind returns the kind that a record names, KindPage if it names none, and KindOther if the
// name is invalid.
func RecordKind(header nats.Header, line []byte) string {
	var r struct {
		Kind string `json:"kind"`
	}
	if header.Get(HeaderRecord) == "" {
		_ = jsontext.Unmarshal(line, &r) // CheckRecord reports an invalid record
	} else if rest, ok := bytes.CutPrefix(line, []byte(`{"kind":"`)); ok { // as Seine's own records begin
		r.Kind = string(rest[:max(bytes.IndexByte(rest, '"'), 0)])
	}
	return CountedKind(r.Kind)
}

// CountedKind returns the kind under which a record counts, given the name in the record, if any.
func CountedKind(named string) string {
	switch {
	case named == "":
		return KindPage
	case !ValidKind(named):
		return KindOther
	}
	return named
}

// ValidKind reports whether kind is a valid name for a kind of record: it is part of the names of
// files, tables and metrics.
func ValidKind(kind string) bool { return kindName().MatchString(kind) }

var kindName = lazyregexp.New(`^[a-z][a-z0-9_]{0,62}$`)

// CheckRecord returns an error unless a message on RECORDS is one JSON object without a line break
// and has an identity. If it has HeaderRecord, only the ends of the object and line breaks are
// checked.
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
