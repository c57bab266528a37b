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

// partitionTime is the time of a partition. What is due is stored in it, and it moves
// with the state, from owner to owner: each continues where the last one's mark is.
// So it never goes back, whatever their clocks say, and nothing waits for the
// difference between two clocks, or between what one said before and after it was
// set.
//
// How much time passed while the partition had no owner is certain only if both clocks
// are the same monotonic one: that of a machine since its start. Otherwise
// it is as much as the time of day has advanced, which may be wrong, so it counts
// for visits that are planned, but not for the rests of hosts: those go by the pace,
// which is behind by all that was not certain. An owner on another machine counts
// the whole rest of a host again, from where its predecessor left it.
//
// Times in it are nanoseconds; the first owner begins it with the time of day.
type partitionTime struct {
	clock  *Clock
	ahead  int64 // of the clock
	unsure int64 // time that may not have passed
	marked int64 // when the last mark was made
}

// mark is where a partition's time had come to, as it is stored.
type mark struct {
	Now    int64        `json:"now"`
	Unsure int64        `json:"unsure,omitempty"`
	Wall   int64        `json:"wall"`            // what the owner took for the time of day, Unix ns
	Uptime int64        `json:"uptime"`          // ns, by the clock with the name
	Clock  string       `json:"clock,omitempty"` // "" if no other process can read it
	Judged specProgress `json:"judged,omitzero"`
}

const (
	// markEvery is how often the time is stored while nothing else is: so much more
	// a host may rest when its partition moves to another machine.
	markEvery = int64(time.Minute)
	// judgedEvery is how often it is while specs become known: the next start then need
	// not look at them again.
	judgedEvery = int64(time.Second)
	// maxAway bounds what the time of day is believed to have advanced.
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

// now is the partition's time.
func (t *partitionTime) now() int64 { return t.clock.Now() + t.ahead }

// pace is a moment as politeness counts it.
func (t *partitionTime) pace(now int64) int64 { return now - t.unsure }

// earliest is when a host, or a domain, may be asked next.
func (t *partitionTime) earliest(s *politeness.State, r *politeness.Rules, now int64) int64 {
	at := s.Earliest(t.byDay(r), t.pace(now))
	return min(at, math.MaxInt64-t.unsure) + t.unsure
}

// phase is why it waits until then.
func (t *partitionTime) phase(s *politeness.State, r *politeness.Rules, now int64) politeness.Phase {
	return s.Phase(t.byDay(r), t.pace(now))
}

// byDay are rules whose hours go by the time of day.
func (t *partitionTime) byDay(r *politeness.Rules) *politeness.Rules {
	ahead := time.Duration(t.unsure - t.ahead)
	if r.Ahead == ahead || r.Hours == (politeness.Hours{}) {
		return r
	}
	own := *r
	own.Ahead = ahead
	return &own
}

// wall is the time of day at a moment, Unix ns, as far as this process knows it.
func (t *partitionTime) wall(now int64) int64 { return now - t.ahead }

// at is when it is a time of day.
func (t *partitionTime) at(wall int64) int64 {
	if wall > math.MaxInt64-max(t.ahead, 0) {
		return math.MaxInt64
	}
	return wall + t.ahead
}

// wallMS is that in milliseconds, for people.
func (t *partitionTime) wallMS(now int64) int64 { return t.wall(now) / 1e6 }

// mark describes the present moment, for the next owner.
func (t *partitionTime) mark() mark {
	up := t.clock.uptime()
	wall := t.clock.at(up)
	t.marked = wall + t.ahead
	return mark{Now: t.marked, Unsure: t.unsure, Wall: wall, Uptime: int64(up), Clock: t.clock.name}
}

// errMark is of a partition's time in the store.
var errMark = errors.New("stored time cannot be read")

// readMark reads where the time of a partition had come to.
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

// markOf is that of a state without one, in which something last happened at a time of
// day, Unix ms; 0 if nothing did.
func markOf(changed int64, c *Clock) mark {
	if changed == 0 {
		now := c.Now()
		return mark{Now: now, Wall: now}
	}
	last := (changed + 1) * 1e6 // it was cut to whole milliseconds
	return mark{Now: last, Wall: last}
}

// markDue reports whether the mark is to be stored though nothing has changed.
func (p *Partition) markDue() bool {
	since := p.time.now() - p.time.marked
	return p.crawls.holdsCrawls && (since >= markEvery || p.crawls.progress != p.crawls.storedProgress && since >= judgedEvery)
}

// storeTime stores the mark with a turn that changes something, and now and then
// with one that changes nothing.
func (p *Partition) storeTime() {
	if p.tx.Empty() && !p.markDue() {
		return
	}
	now := p.time.mark()
	now.Judged, p.crawls.storedProgress = p.crawls.progress, p.crawls.progress
	p.tx.SetJSON(table.Prefix(p.partition, kindTime), now)
}
