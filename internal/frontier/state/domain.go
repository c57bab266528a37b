package state

import (
	"encoding/binary"
	"fmt"

	"seine/internal/frontier/table"
	"seine/internal/schedule/politeness"
)

// domain is what the hosts of a registrable domain have in common: how it was
// asked last, and by how many requests at once. It is kept for every request, so
// that a crawl may group by domain (or no longer do so) at any time. Queues,
// sources, pauses and the breaker are each host's own.
//
// Hosts whose crawls group by domain stand in line for it, by the time at which
// they may be asked themselves; in the due index, the domain stands for all of
// them. They go in this order: none passes the first because it is content with
// less.
type domain struct {
	table.Row
	polite  politeness.State
	due     int64  // its entry in the due index, 0 if it has none
	lined   bool   // hosts may be in its line
	written uint64 // see host
	work    []*hostQueue

	name     string
	inFlight int
	refs     int   // hosts in memory that point here
	first    int64 // no host in the line is due before; math.MaxInt64 if the line is empty
	dirty    bool  // differs from the store
	held     bool  // the first in line must wait, and so must the others, in this turn
	rules    *politeness.Rules
}

// domainFormat is the first byte of an encoded domain.
const domainFormat = 1

// of returns what there is of a crawl at the domain.
func (d *domain) of(crawl string) *hostQueue {
	for _, w := range d.work {
		if w.crawl == crawl {
			return w
		}
	}
	d.work = append(d.work, &hostQueue{crawl: crawl})
	return d.work[len(d.work)-1]
}

// Encode encodes the domain.
func (d *domain) Encode(b []byte) []byte {
	b = append(b, domainFormat)
	b = d.polite.Append(b)
	b = binary.AppendVarint(b, d.due)
	lined := byte(0)
	if d.lined {
		lined = 1
	}
	b = append(b, lined)
	b = binary.AppendUvarint(b, d.written)
	for _, w := range d.work {
		if w.pages > 0 {
			b = appendText(b, w.crawl)
			b = binary.AppendUvarint(b, uint64(w.pages))
		}
	}
	return b
}

func decodeDomain(name string, b []byte) (*domain, error) {
	d := &domain{name: name}
	return d, d.decode(b)
}

func (d *domain) decode(b []byte) (err error) {
	bad := fmt.Errorf("%w: domain %s", errHost, d.name)
	if len(b) == 0 || b[0] != domainFormat {
		return bad
	}
	if d.polite, b, err = politeness.ReadState(b[1:]); err != nil {
		return fmt.Errorf("%w: %w", bad, err)
	}
	r := decoder{b: b}
	d.due, d.lined, d.written = r.int(), r.byte() == 1, r.uint()
	for len(r.b) > 0 && !r.bad {
		d.work = append(d.work, &hostQueue{crawl: r.text(), pages: int64(r.uint())})
	}
	if r.bad {
		return bad
	}
	return nil
}

// shared are the rules of a host for its domain: that a host is down, or has hours,
// is no reason to leave the others alone.
func shared(r *politeness.Rules) *politeness.Rules {
	if r == nil {
		return nil
	}
	both := *r
	both.Breaker, both.Hours = politeness.Breaker{}, politeness.Hours{}
	return &both
}
