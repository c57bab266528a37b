package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
	"seine/internal/schedule/politeness"
	"seine/pkg/messages"
)

// host is the state of one host, or of a domain (domain.go), and its place in the schedule. All but
// the last group of fields is stored, so that politeness outlives the process.
type host struct {
	table.Row
	polite politeness.State
	work   []*hostQueue
	stats  hostStats
	due    int64  // its entry in the due index, in the partition's time; 0 if it has none
	ip     string // last address that answered, if a crawl groups by address
	line   string // the domain in whose line that entry is, "" if in none
	// written is when the last removal of a crawl known to the host began, 0 if none.
	written uint64
	lined   bool // the line of this domain may have hosts

	name     string
	inFlight int
	last     recentResults
	dirty    bool // differs from the store
	ready    bool // is in the partition's ready list
	turn     int  // index into work of the next queue to serve

	notBefore int64             // another host on the same address goes first; partition time
	domain    *host             // loaded when needed
	grouped   bool              // an active crawl of the host groups by domain
	shared    *politeness.Rules // rules for the domain if grouped: see shared
	rules     *politeness.Rules
	rulesFor  uint64 // crawls.specsGen at the time the rules were made
	domainLine
}

// hostQueue is the state of one crawl at a host.
type hostQueue struct {
	crawl  string
	queued int   // URLs in its queue
	pages  int64 // pages fetched
	parked bool  // not to be served until something changes: see park

	inFlight int
	queue    *queue        // window of the queue
	changes  []queueChange // to the queue, in the current turn
}

// hostStats are the statistics of a host in a summary.
type hostStats struct {
	Requests int64
	Pages    int64
	Errors   int64
	Bytes    int64
	Millis   int64 // total duration of all requests
}

// newHost returns a host or domain without any state.
func newHost(name string) *host {
	return &host{name: name, domainLine: domainLine{first: math.MaxInt64}}
}

// of returns a crawl's queue at the host, creating it if needed.
func (h *host) of(crawl string) *hostQueue {
	for _, w := range h.work {
		if w.crawl == crawl {
			return w
		}
	}
	w := &hostQueue{crawl: crawl}
	h.work = append(h.work, w)
	return w
}

// wants reports whether a crawl has or had a queue at the host.
func (h *host) wants(crawl string) bool {
	return slices.ContainsFunc(h.work, func(w *hostQueue) bool { return w.crawl == crawl })
}

// active reports whether w affects the rules of the host.
func (w *hostQueue) active() bool { return w.queued > 0 && !w.parked || w.inFlight > 0 }

// queued returns the number of waiting URLs of all crawls.
func (h *host) queued() (n int) {
	for _, w := range h.work {
		n += w.queued
	}
	return n
}

// finished records a request that has ended.
func (h *host) finished(res *messages.Result) {
	h.last.add(res)
	h.stats.Requests++
	h.stats.Bytes += res.BytesWire
	h.stats.Millis += time.Duration(res.Timings.Total).Milliseconds()
	switch {
	case res.Class == messages.OK:
		h.stats.Pages++
	case res.Class.Retryable() && res.Class != messages.RobotsFetched:
		h.stats.Errors++
	}
}

// hostFormat is the first byte of an encoded host.
const hostFormat = 1

// errHost is returned for a host record that cannot be decoded.
var errHost = errors.New("stored host cannot be read")

// Encode encodes the host.
func (h *host) Encode(b []byte) []byte {
	b = append(b, hostFormat)
	b = h.polite.Append(b)
	b = binary.AppendVarint(b, h.due)
	b = appendText(b, h.ip)
	b = appendText(b, h.line)
	b = binary.AppendUvarint(b, h.written)
	b = appendBool(b, h.lined)
	for _, n := range [...]int64{h.stats.Requests, h.stats.Pages, h.stats.Errors, h.stats.Bytes, h.stats.Millis} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.AppendUvarint(b, uint64(len(h.work)))
	for _, w := range h.work {
		b = appendText(b, w.crawl)
		parked := uint64(0)
		if w.parked {
			parked = 1
		}
		b = binary.AppendUvarint(b, uint64(w.queued)<<1|parked)
		b = binary.AppendUvarint(b, uint64(w.pages))
	}
	return b
}

func decodeHost(name string, b []byte) (*host, error) {
	bad := fmt.Errorf("%w: %s", errHost, name)
	if len(b) == 0 || b[0] != hostFormat {
		return nil, bad
	}
	h := newHost(name)
	var err error
	if h.polite, b, err = politeness.ReadState(b[1:]); err != nil {
		return nil, fmt.Errorf("%w: %w", bad, err)
	}
	d := decoder{b: b}
	h.due, h.ip, h.line = d.int(), d.text(), d.text()
	h.written, h.lined = d.uint(), d.bool()
	for _, n := range [...]*int64{&h.stats.Requests, &h.stats.Pages, &h.stats.Errors, &h.stats.Bytes, &h.stats.Millis} {
		*n = int64(d.uint())
	}
	for n := d.uint(); n > 0 && !d.bad; n-- {
		w := &hostQueue{crawl: d.text()}
		queued := d.uint()
		w.queued, w.parked = int(queued>>1), queued&1 == 1
		w.pages = int64(d.uint())
		h.work = append(h.work, w)
	}
	if d.bad || len(d.b) != 0 {
		return nil, bad
	}
	return h, nil
}

// hostname returns the host's name without a port, as overrides of a spec name it.
func (h *host) hostname() string { return weburl.Hostname("http://" + h.name + "/") }
