package sqlsink

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/internal/output"
	"seine/internal/output/format"
	"seine/pkg/messages"
)

// Sources that a database takes, as --from has them.
const (
	FromRecords = format.FromRecords
	FromResults = "results"
)

// Table is where the latest state of a row is.
type Table int

// Tables.
const (
	Pages   Table = iota
	Records       // of rules, and what is no page
	Results       // in events alone
)

// ID identifies a row in its table.
type ID [16]byte

// hashed returns the ID for a name of some sort.
func hashed(sort, name string) ID {
	sum := sha256.Sum256([]byte(sort + "\x00" + name))
	return ID(sum[:16])
}

// Identity returns what an entry of the log has of a record's Nats-Msg-Id.
func Identity(msgID string) []byte {
	sum := sha256.Sum256([]byte(msgID))
	return sum[:output.IdentitySize]
}

// Row is a record on its way into the tables.
type Row struct {
	Identity ID // of the record, as the entry of the log has it
	Table    Table
	Crawl    string
	Kind     string
	// Item is what the record is the latest of: a page, or a record that has a key,
	// or a place on its page.
	Item    ID
	Key     string // of a record; "" if it has none
	Ordinal int    // of a record without a key: its place on its page, from 0; -1 if unknown
	URL     string // "" if it is not told
	Host    string // of the URL; "" if it is not canonical
	Visit   string
	Round   int64
	// Run is when the run of the visit was due, in Unix seconds; of a record without a run, the round.
	Run int64
	// Digest is of the fields, without what differs from visit to visit.
	Digest [16]byte
	// Event is the record as its event has it: without the long texts of pages.
	Event []byte
	// Generation is the replay that the record was made in; "" if it was made at the visit.
	Generation string
	// FetchedAt is when the record says that its page was fetched, or the request
	// begun; else when the stream took it.
	FetchedAt   time.Time
	Status      *int32 // of a page or a result
	DuplicateOf string
	Data        []byte // the record, valid JSON
}

// head is what of a record is read when it comes. The rest of a page waits in its
// text until it is written.
type head struct {
	URL         string `json:"url"`
	FetchedAt   string `json:"fetched_at"`
	Started     string `json:"started"`
	Visit       string `json:"visit"`
	Key         string `json:"key"`
	Run         *int64 `json:"run"`
	Same        bool   `json:"same"`
	Status      *int32 `json:"status"`
	DuplicateOf string `json:"duplicate_of"`
}

// newRow reads a record of a crawl. What of it is not of the type that it should be
// is as if it were not there: only the text itself is complete in any case.
func newRow(from, crawl string, rec *format.Record) *Row {
	r := &Row{Identity: ID(Identity(rec.ID)), Crawl: crawl, Kind: rec.Kind, Ordinal: -1, FetchedAt: rec.Stored}
	var h head
	r.Data = readInto(&h, rec.Data)
	r.URL, r.Visit, r.Key, r.Status, r.DuplicateOf = clean(h.URL), clean(h.Visit), clean(h.Key), h.Status, clean(h.DuplicateOf)
	if u, err := weburl.CanonicalizeRoute(h.URL); err == nil && u == h.URL {
		r.Host = weburl.Host(r.URL)
	}
	at := h.FetchedAt
	if from == FromResults {
		at = h.Started
	}
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil && t.Year() > 0 {
		r.FetchedAt = t
	}
	r.classify(from, rec.ID)
	if r.Table == Records && r.Kind != messages.KindPage && !r.isOfAbsence() {
		r.Status = nil // it is a field of a rule, which may mean anything
	}
	if r.Kind == messages.KindVisit && h.Same {
		r.Table = Results // it is in no table
	}
	if r.Run = r.Round; h.Run != nil {
		r.Run = *h.Run
	}
	if r.Event = r.Data; r.Table != Results {
		r.digest()
	}
	return r
}

// maxInEvent bounds a field of a page in its event, in bytes.
const maxInEvent = 1000

// digest sets the digest and the record of the event. The digest of a long field of a page takes its place in both, so
// that a change of it is seen.
func (r *Row) digest() {
	skipped := ofVisit(r.Kind)
	all, fields := make([]byte, 1, 512), make([]byte, 0, 512)
	all[0] = '{'
	members := jsontext.MembersOf(r.Data)
	for name, value, ok := members.Next(); ok; name, value, ok = members.Next() {
		if r.Table == Pages && len(value) > maxInEvent {
			value = fmt.Appendf(nil, `"sha256:%x"`, sha256.Sum256(value))
		}
		start := len(all)
		all = append(append(append(append(all, ',', '"'), name...), '"', ':'), value...)
		if !slices.Contains(skipped, string(name)) {
			fields = append(fields, all[start:]...)
		}
	}
	if members.Bad() {
		fields = r.Data
	}
	sum := sha256.Sum256(fields)
	r.Digest = [16]byte(sum[:])
	switch {
	case r.Table != Pages:
	case members.Bad():
		r.Event = nil
	default:
		r.Event = append(append([]byte{'{'}, bytes.TrimPrefix(all[1:], []byte(","))...), '}')
	}
}

// Members that differ from visit to visit, whatever the page has.
var (
	pageOfVisit   = []string{"fetched_at", "visit", "run", "duplicate_of", "depth", "referrer", "fetch_ms", "cut", "render_problems"}
	recordOfVisit = []string{"url", "fetched_at", "visit", "run", "duplicate_of", "generation"}
)

func ofVisit(kind string) []string {
	if kind == messages.KindPage {
		return pageOfVisit
	}
	return recordOfVisit
}

// readInto decodes what it can of data, and returns a copy of it, or of what is no
// JSON its text as a JSON string.
func readInto(v any, data []byte) []byte {
	if decode(data, v) != nil {
		return jsontext.AppendString(nil, clean(string(data)))
	}
	return append([]byte(nil), data...)
}

// clean makes a text one that every database takes.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// classify finds out the row's table, and what it is the latest of there.
func (r *Row) classify(from, id string) {
	visit, rest := visitOf(r.Crawl, id)
	_, r.Generation, _ = strings.Cut(clean(id), "@")
	if r.Visit == "" && !visit.IsZero() {
		r.Visit = visit.String()
	}
	r.Round = int64(visit.Round)
	if visit.IsZero() && visit.UnmarshalText([]byte(r.Visit)) == nil {
		r.Round = int64(visit.Round)
		visit = messages.Visit{} // it is not what the identity is made of
	}
	switch {
	case from == FromResults:
		r.Table, r.Item = Results, r.Identity
	case r.Kind == messages.KindPage && !visit.IsZero() && rest == "":
		r.Table, r.Item = Pages, ID(visit.URL)
	case r.Kind == messages.KindPage && visit.IsZero() && r.Host != "":
		r.Table, r.Item = Pages, ID(messages.HashURL(r.URL))
	case r.isOfAbsence() && r.URL != "": // the latest of the page
		r.Table, r.Item = Records, pageItem(r)
	case r.Key != "":
		r.Table, r.Item = Records, hashed("key", r.Key)
	default:
		r.Table, r.Item = Records, hashed("identity", id)
		number, ok := strings.CutPrefix(rest, r.Kind+".")
		if n, err := strconv.Atoi(number); ok && err == nil && n >= 0 {
			r.Ordinal, r.Item = n, hashed("place", visit.URL.String()+"."+number)
		}
	}
}

// pageItem identifies the page of a row.
func pageItem(r *Row) ID { return ID(messages.HashURL(r.URL)) }

// visitOf returns the visit that an identity begins with, and what follows it. The
// visit is zero if the identity is not one of Seine's. It is the same in each
// generation, so that the latest of them is in the row.
func visitOf(crawl, id string) (v messages.Visit, rest string) {
	s, ok := strings.CutPrefix(messages.FirstGeneration(id), crawl+".")
	parts := strings.SplitN(s, ".", 3)
	if !ok || len(parts) < 2 || v.UnmarshalText([]byte(parts[0]+"."+parts[1])) != nil {
		return messages.Visit{}, ""
	}
	if len(parts) == 3 {
		rest = parts[2]
	}
	return v, rest
}

// isOlder reports whether o must not be replaced by r.
func (r *Row) isOlder(o *Row) bool {
	if !r.FetchedAt.Equal(o.FetchedAt) {
		return r.FetchedAt.Before(o.FetchedAt)
	}
	return r.Round < o.Round
}

// isOfVisit reports whether a row has what a visit found of a page. The record of a page may lack the visit.
func (r *Row) isOfVisit() bool {
	return r.Table != Results && r.URL != "" && (r.Visit != "" || r.Table == Pages)
}

// isOfAbsence reports whether a row says that a visit has found no records of a page.
func (r *Row) isOfAbsence() bool { return r.Kind == messages.KindGone || r.Kind == messages.KindVisit }

// isSame reports whether a row says that a page is as it was.
func (r *Row) isSame() bool { return r.Kind == messages.KindVisit && r.Table == Results }

// isOfRule reports whether a row is one of those that a rule makes of a page.
func (r *Row) isOfRule() bool { return r.Table == Records && (r.Key != "" || r.Ordinal >= 0) }
