package state

import "time"

// classTime is the time of the partitions that leave one remainder: that of the one that is
// ahead of all.
type classTime struct {
	mark  mark
	known bool
	// shift is how far the time of each source is moved, and rest the same of its pace, by
	// which hosts rest.
	shift, rest map[int]int64
}

func (t *classTime) shifts() bool {
	for p := range t.shift {
		if t.shift[p] != 0 || t.rest[p] != 0 {
			return true
		}
	}
	return false
}

// timeOf is the class of a partition, of the old or of the new ones.
func (m *mover) timeOf(p int) *classTime { return &m.times[p%m.step] }

// readTimes finds out what time each class goes on with. All are read at one moment, by one
// clock, so that the differences are those of the partitions.
func (m *mover) readTimes() error {
	up := m.Clock.uptime()
	frozen := &Clock{began: m.Clock.began, start: m.Clock.start, name: m.Clock.name}
	frozen.uptime = func() time.Duration { return up }
	m.times = make([]classTime, m.step)
	for c := range m.times {
		t := &m.times[c]
		t.shift, t.rest = make(map[int]int64), make(map[int]int64)
		marks := make(map[int]mark)
		for _, p := range m.sources(c) {
			stored, found, err := m.From.readMark(p)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			now := startPartitionTime(frozen, stored).mark()
			now.Judged = stored.Judged
			marks[p] = now
			t.takeIn(now)
		}
		for p, at := range marks {
			t.shift[p] = t.mark.Now - at.Now
			t.rest[p] = (t.mark.Now - t.mark.Unsure) - (at.Now - at.Unsure)
		}
	}
	return nil
}

// takeIn goes on with the time that is ahead, and believes of the specs that were looked at
// only what all partitions say.
func (t *classTime) takeIn(o mark) {
	if !t.known {
		t.mark, t.known = o, true
		return
	}
	had := t.mark.Judged
	if o.Now > t.mark.Now {
		t.mark = o
	}
	switch {
	case had.Build != o.Judged.Build || had.Bucket != o.Judged.Bucket:
		had = judged{}
	case o.Judged.Rev < had.Rev:
		had = o.Judged
	}
	t.mark.Judged = had
}

// writeTimes stores the times of the new partitions.
func (m *mover) writeTimes() error {
	for q := range m.Partitions[1] {
		if t := m.timeOf(q); t.known {
			if err := m.putJSON(q, kindTime, nil, t.mark); err != nil {
				return err
			}
		}
	}
	return nil
}
