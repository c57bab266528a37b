package stages

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// delayedRedeliveries are the messages that this process has returned for the server to
// deliver again after a delay: no worker holds these meanwhile. The zero
// value is ready for use.
type delayedRedeliveries struct {
	mu  sync.Mutex
	due map[uint64]time.Time // by sequence of the stream
}

// maxDelays bounds how many messages are known, and with them the answer that tells
// of them. A consumer has not nearly as many on their way.
const maxDelays = 1 << 14

// add notes that a message is to wait.
func (d *delayedRedeliveries) add(seq uint64, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.due == nil {
		d.due = make(map[uint64]time.Time)
	}
	now := time.Now()
	if len(d.due) >= maxDelays { // those that came back to other processes
		maps.DeleteFunc(d.due, func(_ uint64, due time.Time) bool { return now.After(due) })
	}
	if len(d.due) < maxDelays {
		d.due[seq] = now.Add(wait)
	}
}

// remove forgets a message that was delivered again.
func (d *delayedRedeliveries) remove(seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.due, seq)
}

// waiting returns the sequences of those that are not due yet, and forgets the rest.
func (d *delayedRedeliveries) waiting() (seqs []uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for seq, due := range d.due {
		if now.After(due) {
			delete(d.due, seq)
			continue
		}
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}
