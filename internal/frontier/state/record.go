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

// State is the state of a URL. Done, Failed and Excluded are final.
type State byte

// States of a URL.
const (
	Queued   State = 1 + iota // waits for its host
	InFlight                  // sent to a fetcher
	Waiting                   // waits for another attempt
	Parsing                   // fetched; its page is still being parsed
	Done                      // fetched, or a redirect
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

// urlRecord is the state of one URL of one crawl.
type urlRecord struct {
	table.Row
	URL       string
	Referrer  string
	State     State
	Priority  byte
	Seed      bool // submitted by a person or a program
	Kept      bool // every run begins with it, whatever the spec lists
	Ordered   bool // represents all orders of its parameters
	Fetched   bool // a page was fetched, in this round or before
	Recorded  bool // it has records, and none says that it is gone
	Sitemap   bool // its finder says that it is a sitemap
	Round     uint64
	Parsed    uint64 // the last round whose end message came, perhaps before its result
	Sent      int    // requests sent in this round, including visits whose pages were lost
	Failures  int    // failed attempts of this round
	Depth     int
	Redirects int
	Reason    string // why it is excluded or has failed; with Warned, which part of its page could not be read
	Warned    bool   // its page was read only in part
	Gate      bool   // redirects from it led back to it, where cookies are kept: its requests follow redirects
	GateTried bool   // a request that follows redirects was sent
	Recrawl   bool   // the visit of this round was planned by recrawl rules, not by a run
	Arrival   uint64 // order of discovery in the partition
	Due       int64  // time of the next attempt or, after an end, of the next visit, in the partition's time, 0 if none is planned; in Parsing, since when it is parsed
	Changed   int64  // last change of State, Unix ms
	Run       int64  // the last run of the crawl that found the URL
	SentRun   int64  // the run that last sent it
	FetchSeq  uint64 // of the request in FETCH, while InFlight; 0 until known

	Metadata *metadata // nil for most

	rareFields
	lastVisit // results of its visits, if any
}

// rareFields are set on few URLs and stored only if they differ from their defaults.
type rareFields struct {
	Own       byte   // submitted priority, which rules override
	PageRound uint64 // the round of the page whose links are kept, 0 if none are
	PageRev   uint64 // the revision of the spec that found those links
	LinkRun   int64  // the last run that has its links
}

// lastVisit is what a URL's requests have left.
type lastVisit struct {
	Status       int            // of the last response
	Class        messages.Class // how the last attempt ended
	ETag         string         // validators of the last page
	LastModified string
	Digest       uint64    // of the page's body, 0 if unknown
	Content      uint64    // of its text, as reported by the parser
	Interval     int64     // to the next visit, ns, 0 if it is not visited again
	History      []attempt // the most recent, oldest first
}

// attempt is the outcome of one request, for explain.
type attempt struct {
	At     int64 // Unix ms
	Class  messages.Class
	Status int
	Took   int64 // ms
}

// maxHistory limits the attempts that a URL remembers.
const maxHistory = 8

// wasGone reports whether the last request with a final result had found the page gone.
func (v *lastVisit) wasGone() bool {
	for _, a := range slices.Backward(v.History) {
		if a.Class.IsPageRequest() && !a.Class.Retryable() {
			return a.Class == messages.Gone
		}
	}
	return false
}

// empty reports whether the URL has not been visited.
func (v *lastVisit) empty() bool { return v.Class == "" && v.Content == 0 && len(v.History) == 0 }

// recordFormat is the first byte of an encoded record.
const recordFormat = 1

// Bits of the state byte.
const (
	markRecorded = 0x80 // Recorded
	markSitemap  = 0x40 // Sitemap
	markKept     = 0x20 // Kept
	markOrdered  = 0x10 // Ordered
	markMetadata = 0x08 // Metadata follows
	markState    = 0x07 // the state itself
)

// Bits of the byte after priority, in the order of urlRecord.flags.
const (
	flagSeed      = 1 << iota // submitted by a person or a program
	flagVisited               // lastVisit follows
	flagFetched               // a page was fetched
	flagWarned                // its page was read only in part
	flagGate                  // redirects led back to it
	flagGateTried             // sent with redirects followed
	flagMore                  // rareFields follow
	flagRecrawl               // recrawl rules have planned its visit
)

// Encode encodes the record: numbers as varints, text with its length. Most records are of URLs
// that wait for their first request, and have the short form.
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

// decodeRecord decodes the output of Encode.
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

// plausible reports whether the record has what callers rely on: a URL with a scheme, and a valid
// state and depth.
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

// decoder reads consecutive fields and remembers whether one was truncated.
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

// skip skips the n bytes of a number; n is not positive if it was invalid.
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

// nextRound prepares the record for another visit in an era. The visit has an identity that no
// visit before had.
func (r *urlRecord) nextRound(era uint64) {
	if r.Sent > 0 {
		r.Round = messages.NextRound(r.Round, era)
	}
	r.Sent, r.Failures, r.Due = 0, 0, 0
}

// answered reports whether a result, not a rule, decided the visit of this round.
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

// failedBefore reports whether this state failed the URL in this round before the given attempt,
// which was sent. The former owner counted differently: whether an attempt counts as a probe of its
// host depends on when its result is read.
func (r *urlRecord) failedBefore(attempt int) bool {
	return r.State == Failed && r.Class.Retryable() && r.Sent < attempt
}
