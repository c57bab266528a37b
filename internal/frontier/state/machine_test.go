package state

import (
	"fmt"
	"time"
)

// machine gives a test's processes the time, right or wrong.
type machine struct {
	now    time.Time     // the real time
	skew   time.Duration // error of the time of day, for processes that start now
	booted time.Time
	boots  int
}

func newMachine(now time.Time) *machine { return &machine{now: now, booted: now} }

// process returns the clock of a process that starts now.
func (m *machine) process() *Clock {
	booted, name := m.booted, fmt.Sprint("boot ", m.boots)
	uptime := func() time.Duration { return m.now.Sub(booted) }
	return &Clock{began: m.now.Add(m.skew).UnixNano(), start: uptime(), uptime: uptime, name: name}
}

// boot restarts the machine, or replaces it: its uptime says nothing about the time before.
func (m *machine) boot() { m.boots, m.booted = m.boots+1, m.now }
