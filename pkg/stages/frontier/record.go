package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"

	"seine/pkg/messages"
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

var stateNames = [...]string{Queued: "queued", InFlight: "in_flight", Waiting: "waiting",
	Parsing: "parsing", Done: "done", Failed: "failed", Excluded: "excluded"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) && s > 0 {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", byte(s))
}

// record is what the frontier knows of one URL of one crawl.
type record struct {
	URL       string
	Referrer  string
	State     State
	Priority  byte
	Parsed    bool // the end of the visit came before its result
	Round     uint32
	Sent      int // times the visit of this round was sent
	Failures  int // attempts of this round that failed
	Depth     int
	Redirects int
	Status    int            // of the last response
	Class     messages.Class // how the last attempt ended
	Reason    string         // why it is excluded, or has failed
	Arrival   uint64         // order of discovery in the partition
	Due       int64          // of the next attempt while Waiting, Unix ns
	Changed   int64          // last change of State, Unix ms
}

// recordFormat is the first byte of an encoded record.
const recordFormat = 1

// append encodes the record: small numbers as varints, text with its length.
func (r *record) append(b []byte) []byte {
	flags := byte(0)
	if r.Parsed {
		flags = 1
	}
	b = append(b, recordFormat, byte(r.State), r.Priority, flags)
	for _, n := range [...]int{int(r.Round), r.Sent, r.Failures, r.Depth, r.Redirects, r.Status} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.AppendUvarint(b, r.Arrival)
	b = binary.AppendVarint(b, r.Due)
	b = binary.AppendVarint(b, r.Changed)
	for _, s := range [...]string{string(r.Class), r.Reason, r.URL, r.Referrer} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

var errRecord = errors.New("stored URL record cannot be read")

// decodeRecord reads what append wrote.
func decodeRecord(b []byte) (*record, error) {
	if len(b) < 4 || b[0] != recordFormat {
		return nil, errRecord
	}
	r := &record{State: State(b[1]), Priority: b[2], Parsed: b[3]&1 != 0}
	d := decoder{b: b[4:]}
	r.Round, r.Sent, r.Failures = uint32(d.uint()), int(d.uint()), int(d.uint())
	r.Depth, r.Redirects, r.Status = int(d.uint()), int(d.uint()), int(d.uint())
	r.Arrival, r.Due, r.Changed = d.uint(), d.int(), d.int()
	r.Class, r.Reason = messages.Class(d.text()), d.text()
	r.URL, r.Referrer = d.text(), d.text()
	if d.bad || len(d.b) != 0 {
		return nil, errRecord
	}
	return r, nil
}

// decoder reads fields one after the other and remembers if one was cut short.
type decoder struct {
	b   []byte
	bad bool
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
	d.skip(int(n))
	return s
}

func (d *decoder) skip(n int) {
	if n < 0 || n > len(d.b) || d.bad {
		d.bad, d.b = true, nil
		return
	}
	d.b = d.b[n:]
}

func (r *record) visit(hash messages.URLHash) messages.Visit {
	return messages.Visit{URL: hash, Round: r.Round}
}
