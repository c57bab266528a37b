package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"seine/internal/frontier/table"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// State is where a URL stands. Done, Failed and Excluded are the ends.
type State byte

// States of a URL.
const (
	Queued   State = 1 + iota // waits for its host
	InFlight                  // sent to a fetcher
	Waiting                   // waits for another attempt
	Parsing                   // fetched; its page is still being parsed
	Done                      // fetched, or found to lead elsewhere
	Failed                    // every attempt failed
	Excluded                  // not fetched, by a rule
)

var stateNames = [...]string{"new", Queued: frontierapi.StateQueued, InFlight: "in_flight", Waiting: frontierapi.StateWaiting,
	Parsing: "parsing", Done: "done", Failed: "failed", Excluded: "excluded"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", byte(s))
}

// ended reports whether nothing more happens in this round.
func (s State) ended() bool { return s >= Done }

// urlRecord is what the frontier knows of one URL of one crawl.
type urlRecord struct {
	table.Row
	URL       string
	Referrer  string
	State     State
	Priority  byte
	Seed      bool // a person or a program fed it
	Kept      bool // every run begins with it, whatever its spec lists
	Ordered   bool // it stands for all orders of its parameters
	Fetched   bool // a page came, in this round or before
	Recorded  bool // there are records of it, and none says that it is gone
	Sitemap   bool // its finder says that it is a sitemap
	Round     uint64
	Parsed    uint64 // the last round whose end came, perhaps before its result
	Sent      int    // times the visit of this round was sent, with those before it whose pages were lost
	Failures  int    // attempts of this round that failed
	Depth     int
	Redirects int
	Reason    string // why it is excluded, or has failed; with Warned, what of its page could not be read
	Warned    bool   // its page was read in part
	Gate      bool   // redirects from it led back to it, where cookies are kept: its requests follow them
	GateTried bool   // a request that follows them was sent
	Recrawl   bool   // rules have planned the visit of this round, for no run
	Arrival   uint64 // order of discovery in the partition
	Due       int64  // of the next attempt or, after an end, of the next visit, in the partition's time, 0 if none is planned; with Parsing, since when it is parsed
	Changed   int64  // last change of State, Unix ms
	Run       int64  // the last run of the crawl that found it
	SentRun   int64  // the run in which it was sent last
	FetchSeq  uint64 // of the request in FETCH, while InFlight; 0 until that is known

	Metadata *metadata // nil for most

	rareFields
	lastVisit // what its visits left, if there was one
}

// rareFields are set on few URLs and stored only if they say anything.
type rareFields struct {
	Own       byte   // the priority that it came with, which those of rules stand before
	PageRound uint64 // that in which the page came of which the links are kept, 0 if they are not,
	PageRev   uint64 // and the revision of the spec that they were found by
	LinkRun   int64  // the last run that has its links
}

// lastVisit is what is known of a URL after its first request.
type lastVisit struct {
	Status       int            // of the last response
	Class        messages.Class // how the last attempt ended
	ETag         string         // validators of the last page
	LastModified string
	Digest       uint64    // of its body, 0 if unknown
	Content      uint64    // of its text, as the parser says
	Interval     int64     // to the next visit, ns, if it is to be visited again
	History      []attempt // the last ones, oldest first
}

// attempt is how one request ended, for explain.
type attempt struct {
	At     int64 // Unix ms
	Class  messages.Class
	Status int
	Took   int64 // ms
}

// maxHistory bounds what a URL remembers of its attempts.
const maxHistory = 8

// wasGone reports whether the page was gone already at the last request that was not one to retry.
func (v *lastVisit) wasGone() bool {
	for _, a := range slices.Backward(v.History) {
		if a.Class.IsPageRequest() && !a.Class.Retryable() {
			return a.Class == messages.Gone
		}
	}
	return false
}

// empty reports whether there has been no visit.
func (v *lastVisit) empty() bool { return v.Class == "" && v.Content == 0 && len(v.History) == 0 }

// recordFormat is the first byte of an encoded record.
const recordFormat = 1

// Bits of the byte of the state.
const (
	markRecorded = 0x80 // Recorded
	markSitemap  = 0x40 // Sitemap
	markKept     = 0x20 // Kept
	markOrdered  = 0x10 // Ordered
	markMetadata = 0x08 // Metadata follows
	markState    = 0x07 // the state itself
)

// Bits of the byte after priority, in the order of record.flags.
const (
	flagSeed      = 1 << iota // fed by a person or a program
	flagVisited               // the visited part follows
	flagFetched               // a page came
	flagWarned                // its page was read in part
	flagGate                  // redirects led back to it
	flagGateTried             // and it was sent since
	flagMore                  // rareFields follow
	flagRecrawl               // rules have planned its visit
)

// Encode encodes the record: small numbers as varints, text with its length.
// Most records are of URLs that wait for their first request, and have the
// short form.
func (r *urlRecord) Encode(b []byte) []byte {
	flags := r.flags()
	b = append(b, recordFormat, byte(r.State)|r.marks(), r.Priority, flags)
	for _, n := range [...]uint64{r.Round, r.Parsed, uint64(r.Sent), uint64(r.Failures), uint64(r.Depth), uint64(r.Redirects)} {
		b = binary.AppendUvarint(b, n)
	}
	b = binary.AppendUvarint(b, r.Arrival)
	for _, n := range [...]int64{r.Due, r.Changed, r.Run, r.SentRun} {
		b = binary.AppendVarint(b, n)
	}
	for _, s := range [...]string{r.Reason, r.URL, r.Referrer} {
		b = appendText(b, s)
	}
	if r.State == InFlight {
		b = binary.AppendUvarint(b, r.FetchSeq)
	}
	if r.Metadata != nil {
		b = appendText(b, string(r.Metadata.append(nil)))
	}
	if flags&flagVisited != 0 {
		b = r.lastVisit.append(b)
	}
	if flags&flagMore != 0 {
		b = append(b, r.Own)
		b = binary.AppendUvarint(b, r.PageRound)
		b = binary.AppendUvarint(b, r.PageRev)
		b = binary.AppendVarint(b, r.LinkRun)
	}
	return b
}

func (r *urlRecord) marks() (marks byte) {
	for i, is := range [...]bool{r.Metadata != nil, r.Ordered, r.Kept, r.Sitemap, r.Recorded} {
		if is {
			marks |= markMetadata << i
		}
	}
	return marks
}

func (r *urlRecord) flags() byte {
	flags := byte(0)
	for i, is := range [...]bool{r.Seed, !r.lastVisit.empty(), r.Fetched, r.Warned, r.Gate, r.GateTried, r.rareFields != rareFields{Own: r.Priority}, r.Recrawl} {
		if is {
			flags |= 1 << i
		}
	}
	return flags
}

func (v *lastVisit) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(v.Status))
	for _, s := range [...]string{string(v.Class), v.ETag, v.LastModified} {
		b = appendText(b, s)
	}
	b = binary.AppendUvarint(b, v.Digest)
	b = binary.AppendUvarint(b, v.Content)
	b = binary.AppendVarint(b, v.Interval)
	b = append(b, byte(len(v.History)))
	for _, a := range v.History {
		b = binary.AppendVarint(b, a.At)
		b = appendText(b, string(a.Class))
		b = binary.AppendUvarint(b, uint64(a.Status))
		b = binary.AppendVarint(b, a.Took)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBool(b []byte, is bool) []byte {
	if is {
		return append(b, 1)
	}
	return append(b, 0)
}

var errRecord = errors.New("stored URL record cannot be read")

// decodeRecord reads what Encode wrote.
func decodeRecord(b []byte) (*urlRecord, error) {
	if len(b) < 4 || b[0] != recordFormat {
		return nil, errRecord
	}
	r := &urlRecord{
		State: State(b[1] & markState), Kept: b[1]&markKept != 0, Ordered: b[1]&markOrdered != 0, Recorded: b[1]&markRecorded != 0, Sitemap: b[1]&markSitemap != 0, Priority: b[2], Seed: b[3]&flagSeed != 0, Fetched: b[3]&flagFetched != 0, Warned: b[3]&flagWarned != 0,
		Gate: b[3]&flagGate != 0, GateTried: b[3]&flagGateTried != 0, Recrawl: b[3]&flagRecrawl != 0,
	}
	d := decoder{b: b[4:]}
	r.Round, r.Parsed, r.Sent, r.Failures = d.uint(), d.uint(), int(d.uint()), int(d.uint())
	r.Depth, r.Redirects, r.Arrival = int(d.uint()), int(d.uint()), d.uint()
	r.Due, r.Changed, r.Run, r.SentRun = d.int(), d.int(), d.int(), d.int()
	r.Reason, r.URL, r.Referrer = d.text(), d.text(), d.text()
	if r.State == InFlight {
		r.FetchSeq = d.uint()
	}
	if b[1]&markMetadata != 0 {
		r.Metadata = d.metadata()
	}
	if b[3]&flagVisited != 0 {
		r.lastVisit = d.lastVisit()
	}
	r.Own = r.Priority
	if b[3]&flagMore != 0 {
		r.rareFields = rareFields{Own: d.byte(), PageRound: d.uint(), PageRev: d.uint(), LinkRun: d.int()}
	}
	if d.bad || len(d.b) != 0 || !r.plausible() {
		return nil, errRecord
	}
	return r, nil
}

// plausible reports whether the record has what everything takes for granted: a URL
// with a scheme, and a state and a depth that there are.
func (r *urlRecord) plausible() bool {
	return strings.Index(r.URL, "://") > 0 && r.State >= Queued && r.State <= Excluded && r.Depth >= 0 && r.Depth <= messages.MaxDepth
}

func (d *decoder) lastVisit() (v lastVisit) {
	v.Status = int(d.uint())
	v.Class, v.ETag, v.LastModified = messages.Class(d.text()), d.text(), d.text()
	v.Digest, v.Content, v.Interval = d.uint(), d.uint(), d.int()
	n := int(d.byte())
	if n > maxHistory {
		d.bad = true
	}
	for i := 0; i < n && !d.bad; i++ {
		v.History = append(v.History, attempt{At: d.int(), Class: messages.Class(d.text()), Status: int(d.uint()), Took: d.int()})
	}
	return v
}

// decoder reads fields one after the other and remembers if one was cut short.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) bool() bool {
	c := d.byte()
	d.bad = d.bad || c > 1
	return c == 1
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) text() string {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.bad = true
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

// skip leaves out n bytes that were read; n is not positive if there was no
// number.
func (d *decoder) skip(n int) {
	if n <= 0 || n > len(d.b) || d.bad {
		d.bad, d.b = true, nil
		return
	}
	d.b = d.b[n:]
}

func (r *urlRecord) visit(hash messages.URLHash) messages.Visit {
	return messages.Visit{URL: hash, Round: r.Round}
}

// nextRound makes the record one of a URL to be visited once more in an era. The visit has
// an identity that no visit before had.
func (r *urlRecord) nextRound(era uint64) {
	if r.Sent > 0 {
		r.Round = messages.NextRound(r.Round, era)
	}
	r.Sent, r.Failures, r.Due = 0, 0, 0
}

// answered reports whether the visit of this round was decided by a result, not
// by the rules.
func (r *urlRecord) answered() bool {
	switch r.State {
	case Parsing, Done:
		return r.Sent > 0
	case Failed:
		return r.Sent > 0 && r.Reason != reasonGivenUp
	case Excluded:
		return r.Reason == frontierapi.ReasonRobots || r.Reason == frontierapi.ReasonAddress
	default:
		return false
	}
}

// failedBefore reports whether the visit of this round has ended for lack of attempts
// before an attempt that there is. Its former owner counted otherwise: whether one
// counts as a probe of its host depends on when its result is read.
func (r *urlRecord) failedBefore(attempt int) bool {
	return r.State == Failed && r.Class.Retryable() && r.Sent < attempt
}
