package state

import (
	"encoding/json"
	"errors"
	"fmt"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
	"seine/internal/schedule/traps"
)

// The tables of a partition. Besides a record, the store has only the keys that the record derives:
// no other code writes them.
var (
	urlTable = table.Table[urlID, *urlRecord]{
		Kind:   kindURL,
		Key:    func(b []byte, id urlID) []byte { return append(table.Name(b, id.crawl), id.hash[:]...) },
		Decode: func(_ urlID, value []byte) (*urlRecord, error) { return decodeRecord(value) },
	}
	hostTable  = table.Table[string, *host]{Kind: kindHost, Key: appendName, Decode: decodeHost}
	crawlTable = table.Table[string, *crawl]{Kind: kindCounters, Key: appendName, Decode: decodeCrawl}
)

func appendName(b []byte, name string) []byte { return append(b, name...) }

// Derive adds the index keys of a URL.
func (r *urlRecord) Derive(id urlID, keys *table.Keys) {
	switch r.State {
	case Queued:
		at := newQueueKey(r, id.hash)
		keys.Add(kindQueue).Name(weburl.Host(r.URL)).Name(id.crawl).Bytes(at[:])
	case InFlight:
		keys.Add(kindInFlight).Name(id.crawl).Bytes(id.hash[:])
	case Failed:
		keys.Add(kindFailed).Name(id.crawl).Bytes(id.hash[:])
	case Waiting, Parsing, Done, Excluded:
	}
	if r.awaitsTime() {
		keys.Add(kindRetry).Int(r.Due).Name(id.crawl).Bytes(id.hash[:])
	}
	if r.Kept {
		keys.Add(kindSeed).Name(id.crawl).Bytes(id.hash[:])
	}
	if r.Ordered {
		sorted, _ := traps.SortQuery(r.URL)
		mark := orderMark(sorted)
		keys.Add(kindOrder).Name(id.crawl).Bytes(mark[:])
	}
}

// awaitsTime reports whether the URL has a scheduled event: another attempt, or the next visit.
func (r *urlRecord) awaitsTime() bool { return r.Due != 0 && (r.State == Waiting || r.State.ended()) }

// Derive adds the index keys of a host or a domain.
func (h *host) Derive(name string, keys *table.Keys) {
	switch {
	case h.due == 0:
	case h.line == "":
		keys.Add(kindDue).Int(h.due).Text(name)
	default:
		keys.Add(kindLine).Name(h.line).Int(h.due).Text(name)
	}
	for _, w := range h.work {
		if w.parked {
			keys.Add(kindParked).Name(w.crawl).Text(name)
		}
	}
	if at := h.forgetAt(); at > 0 {
		keys.Add(kindForget).Int(at).Text(name)
	}
}

// Derive adds the index key of a crawl. A stale crawl has it too: loadAll lists all crawls again
// when the build has changed.
func (c *crawl) Derive(name string, keys *table.Keys) {
	if c.known() && (!c.ended() || c.stale()) {
		keys.Add(kindAwake).Text(name)
	}
}

// Encode encodes the stored part of a crawl as JSON.
func (c *crawl) Encode(b []byte) []byte {
	text, err := json.Marshal(&c.crawlState)
	if err != nil {
		panic(fmt.Sprintf("encode counters: %v", err)) // they are numbers and texts
	}
	return append(b, text...)
}

// errCounters is returned for stored counters that cannot be decoded. The crawl's state is then
// rebuilt.
var errCounters = errors.New("stored counters cannot be read")

func decodeCrawl(name string, value []byte) (*crawl, error) {
	var state crawlState
	if err := jsontext.Unmarshal(value, &state); err != nil {
		return nil, fmt.Errorf("crawl %s: %w: %w", name, errCounters, err)
	}
	return &crawl{crawlState: state}, nil
}
