package state

import (
	"errors"
	"fmt"
	"math"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
	"seine/internal/schedule/politeness"
)

// partitionTime is the time of a partition. Due times are stored in it, and it moves with the state
// from owner to owner: each continues from the last owner's mark. So it never goes back, whatever
// the owners' clocks say. Nothing waits for the difference between two clocks, or for a clock that
// was set.
//
// The time that passed without an owner is certain only if both owners read the same monotonic
// clock: that of a machine since its start. Otherwise it is the advance of the time of day, which
// may be wrong. It then counts for planned visits, but not for the delays of hosts. Those use the
// pace, which lags by all uncertain time. So an owner on another machine waits the whole remaining
// delay of a host, from where its predecessor left it.
//
// Times are nanoseconds; the first owner starts with the time of day.
type partitionTime struct {
	clock  *Clock
	ahead  int64 // offset from the clock
	unsure int64 // time that may not have passed
	marked int64 // when the last mark was made
}

// mark is the stored end of a partition's time.
type mark struct {
	Now    int64        `json:"now"`
	Unsure int64        `json:"unsure,omitempty"`
	Wall   int64        `json:"wall"`            // the owner's time of day, Unix ns
	Uptime int64        `json:"uptime"`          // ns, by the named clock
	Clock  string       `json:"clock,omitempty"` // "" if no other process can read it
	Judged specProgress `json:"judged,omitzero"`
}

const (
	// markEvery is how often the time is stored when nothing else changes. A host may wait that
	// much longer when its partition moves to another machine.
	markEvery = int64(time.Minute)
	// judgedEvery is how often the time is stored while specs become known, so that the next start
	// need not check them again.
	judgedEvery = int64(time.Second)
	// maxAway limits the believed advance of the time of day.
	maxAway = int64(366 * 24 * time.Hour)
)

// startPartitionTime continues from a mark.
func startPartitionTime(c *Clock, from mark) *partitionTime {
	up := c.uptime()
	wall := c.at(up)
	t := &partitionTime{clock: c, unsure: from.Unsure, marked: from.Now}
	passed := int64(up) - from.Uptime
	if c.name == "" || c.name != from.Clock || passed < 0 {
		passed = min(max(wall-from.Wall, 0), maxAway)
		t.unsure += passed
	}
	t.ahead = from.Now + passed - wall
	return t
}

// now returns the partition's time.
func (t *partitionTime) now() int64 { return t.clock.Now() + t.ahead }

// pace converts a time to politeness time.
func (t *partitionTime) pace(now int64) int64 { return now - t.unsure }

// earliest returns when a host, or a domain, may be sent the next request.
func (t *partitionTime) earliest(s *politeness.State, r *politeness.Rules, now int64) int64 {
	at := s.Earliest(t.byDay(r), t.pace(now))
	return min(at, math.MaxInt64-t.unsure) + t.unsure
}

// phase returns the reason for that wait.
func (t *partitionTime) phase(s *politeness.State, r *politeness.Rules, now int64) politeness.Phase {
	return s.Phase(t.byDay(r), t.pace(now))
}

// byDay returns rules whose hours follow the time of day.
func (t *partitionTime) byDay(r *politeness.Rules) *politeness.Rules {
	ahead := time.Duration(t.unsure - t.ahead)
	if r.Ahead == ahead || r.Hours == (politeness.Hours{}) {
		return r
	}
	own := *r
	own.Ahead = ahead
	return &own
}

// wall returns the time of day for a partition time, Unix ns, as far as this process knows it.
func (t *partitionTime) wall(now int64) int64 { return now - t.ahead }

// at returns the partition time for a time of day.
func (t *partitionTime) at(wall int64) int64 {
	if wall > math.MaxInt64-max(t.ahead, 0) {
		return math.MaxInt64
	}
	return wall + t.ahead
}

// wallMS returns the time of day in milliseconds, for display.
func (t *partitionTime) wallMS(now int64) int64 { return t.wall(now) / 1e6 }

// mark describes the current time for the next owner.
func (t *partitionTime) mark() mark {
	up := t.clock.uptime()
	wall := t.clock.at(up)
	t.marked = wall + t.ahead
	return mark{Now: t.marked, Unsure: t.unsure, Wall: wall, Uptime: int64(up), Clock: t.clock.name}
}

// errMark is returned for a stored time that cannot be decoded.
var errMark = errors.New("stored time cannot be read")

// readMark reads the stored time of a partition.
func (s *Store) readMark(p int) (m mark, found bool, err error) {
	value, err := s.get(table.Prefix(p, kindTime))
	if err != nil || value == nil {
		return m, false, err
	}
	if err := jsontext.Unmarshal(value, &m); err != nil {
		return mark{}, false, fmt.Errorf("partition %d: %w: %w", p, errMark, err)
	}
	return m, true, nil
}

// markOf returns a mark for a state without one. changed is the time of day of its last change,
// Unix ms, 0 if none.
func markOf(changed int64, c *Clock) mark {
	if changed == 0 {
		now := c.Now()
		return mark{Now: now, Wall: now}
	}
	last := (changed + 1) * 1e6 // it was truncated to milliseconds
	return mark{Now: last, Wall: last}
}

// markDue reports whether the mark must be stored though nothing else has changed.
func (p *Partition) markDue() bool {
	since := p.time.now() - p.time.marked
	return p.crawls.holdsCrawls && (since >= markEvery || p.crawls.progress != p.crawls.storedProgress && since >= judgedEvery)
}

// storeTime stores the mark with a turn that changes something, or when markDue says so.
func (p *Partition) storeTime() {
	if p.tx.Empty() && !p.markDue() {
		return
	}
	now := p.time.mark()
	now.Judged, p.crawls.storedProgress = p.crawls.progress, p.crawls.progress
	p.tx.SetJSON(table.Prefix(p.partition, kindTime), now)
}
