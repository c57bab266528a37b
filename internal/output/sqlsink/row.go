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

// Sources that a database accepts, as values of --from.
const (
	FromRecords = format.FromRecords
	FromResults = "results"
)

// Table is the table that has the latest state of a row.
type Table int

// Tables.
const (
	Pages   Table = iota
	Records       // of rules, and everything that is not a page
	Results       // only in events
)

// ID identifies a row in its table.
type ID [16]byte

// hashed returns the ID of a name of a sort.
func hashed(sort, name string) ID {
	sum := sha256.Sum256([]byte(sort + "\x00" + name))
	return ID(sum[:16])
}

// Identity returns the identity that the log keeps of a Nats-Msg-Id.
func Identity(msgID string) []byte {
	sum := sha256.Sum256([]byte(msgID))
	return sum[:output.IdentitySize]
}

// Row is a record to be written to the tables.
type Row struct {
	Identity ID // of the record, as in the entry of the log
	Table    Table
	Crawl    string
	Kind     string
	// Item identifies what the row is the latest state of: a page, a record with a key, or a
	// position on its page.
	Item    ID
	Key     string // of a record; "" if none
	Ordinal int    // position of a record without a key on its page, from 0; -1 if unknown
	URL     string // "" if unknown
	Host    string // of the URL; "" if it is not canonical
	Visit   string
	Round   int64
	// Run is when the run of the visit was due, in Unix seconds, or the round for a record without
	// a run.
	Run int64
	// Digest is the digest of the fields, without those that differ from visit to visit.
	Digest [16]byte
	// Event is the record as stored in its event: without the long texts of pages.
	Event []byte
	// Generation is the replay that made the record, or "" if the visit made it.
	Generation string
	// FetchedAt is when the page was fetched or the request began, according to the record. If the
	// record lacks it, it is when the message was stored in the stream.
	FetchedAt   time.Time
	Status      *int32 // of a page or a result
	DuplicateOf string
	Data        []byte // the record, as valid JSON
}

// head has the fields of a record that are decoded on arrival. The other fields of a page are
// decoded when it is written.
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

// newRow decodes a record of a crawl. It ignores fields of the wrong type. Only the text itself is
// kept in any case.
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
		r.Status = nil // here it is a field of a rule, with any meaning
	}
	if r.Kind == messages.KindVisit && h.Same {
		r.Table = Results // events only
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

// digest sets the digest and the event's record. A long field of a page is replaced by its hash in
// both, so that a change is noticed.
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

// readInto decodes as much as possible of data, and returns a copy of it. If data is not JSON, it
// returns the text as a JSON string.
func readInto(v any, data []byte) []byte {
	if decode(data, v) != nil {
		return jsontext.AppendString(nil, clean(string(data)))
	}
	return append([]byte(nil), data...)
}

// clean replaces characters that some databases reject.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// classify sets the row's table and its item there.
func (r *Row) classify(from, id string) {
	visit, rest := visitOf(r.Crawl, id)
	_, r.Generation, _ = strings.Cut(clean(id), "@")
	if r.Visit == "" && !visit.IsZero() {
		r.Visit = visit.String()
	}
	r.Round = int64(visit.Round)
	if visit.IsZero() && visit.UnmarshalText([]byte(r.Visit)) == nil {
		r.Round = int64(visit.Round)
		visit = messages.Visit{} // the identity is not derived from it
	}
	switch {
	case from == FromResults:
		r.Table, r.Item = Results, r.Identity
	case r.Kind == messages.KindPage && !visit.IsZero() && rest == "":
		r.Table, r.Item = Pages, ID(visit.URL)
	case r.Kind == messages.KindPage && visit.IsZero() && r.Host != "":
		r.Table, r.Item = Pages, ID(messages.HashURL(r.URL))
	case r.isOfAbsence() && r.URL != "": // latest of the page
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

// visitOf returns the visit at the beginning of a message ID, and the rest of the ID. The visit is
// zero if the ID is not Seine's. It is the same in each generation, so that the row has the latest
// generation.
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

// isOlder reports whether r is older than o, which it must not replace then.
func (r *Row) isOlder(o *Row) bool {
	if !r.FetchedAt.Equal(o.FetchedAt) {
		return r.FetchedAt.Before(o.FetchedAt)
	}
	return r.Round < o.Round
}

// isOfVisit reports whether a row is the result of a visit of a page. The record of a page may lack
// the visit.
func (r *Row) isOfVisit() bool {
	return r.Table != Results && r.URL != "" && (r.Visit != "" || r.Table == Pages)
}

// isOfAbsence reports whether a row states that a visit found no records of a page.
func (r *Row) isOfAbsence() bool { return r.Kind == messages.KindGone || r.Kind == messages.KindVisit }

// isSame reports whether a row states that a page is unchanged.
func (r *Row) isSame() bool { return r.Kind == messages.KindVisit && r.Table == Results }

// isOfRule reports whether a row is one that a rule makes from a page.
func (r *Row) isOfRule() bool { return r.Table == Records && (r.Key != "" || r.Ordinal >= 0) }
