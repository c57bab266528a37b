package stages

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// delayedRedeliveries are the messages that this process returned to the server for a delayed
// redelivery: no worker holds them meanwhile. The zero value is ready for use.
type delayedRedeliveries struct {
	mu  sync.Mutex
	due map[uint64]time.Time // by sequence of the stream
}

// maxDelays bounds the number of recorded messages, and with it the size of the answer that lists
// them. A consumer has far fewer in flight.
const maxDelays = 1 << 14

// add records that a message is delayed.
func (d *delayedRedeliveries) add(seq uint64, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.due == nil {
		d.due = make(map[uint64]time.Time)
	}
	now := time.Now()
	if len(d.due) >= maxDelays { // messages that were redelivered to other processes
		maps.DeleteFunc(d.due, func(_ uint64, due time.Time) bool { return now.After(due) })
	}
	if len(d.due) < maxDelays {
		d.due[seq] = now.Add(wait)
	}
}

// remove forgets a redelivered message.
func (d *delayedRedeliveries) remove(seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.due, seq)
}

// waiting returns the sequences of the messages that are not due yet, and forgets the others.
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
