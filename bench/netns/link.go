package netns

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Condition is what becomes of the packets from one host to another. The zero value is a good link.
type Condition struct {
	// Cut loses all of them, and tells nobody.
	Cut bool
	// Ports are the TCP and UDP ports, of either end, whose packets it is about; all if there are none.
	Ports []uint16
	// Delay is how much later each arrives.
	Delay time.Duration
	// Loss is the share of them that is lost, from 0 to 1, each by chance.
	Loss float64
	// Rate is how many bits of them pass in a second; 0 is no limit. What would have to wait for more than queueTime is lost.
	Rate int64
}

// queueTime is how long packets wait for a slow link, as in the buffers of a router.
const queueTime = time.Second

// queueLength bounds the packets that are on their way through a link.
const queueLength = 4096

// packet is one that is on its way.
type packet struct {
	bytes []byte
	due   time.Time
}

// link carries packets from one host to another under a condition.
type link struct {
	Condition
	deliver func([]byte)
	random  func() float64 // from 0 up to 1

	mu     sync.Mutex
	closed bool
	free   time.Time // when what was sent until now has passed, at the rate of the link
	queue  chan packet
}

func newLink(c Condition, random func() float64, deliver func([]byte)) *link {
	l := &link{Condition: c, random: random, deliver: deliver, queue: make(chan packet, queueLength)}
	go l.carry()
	return l
}

// carry delivers the packets of the queue when they are due, until it is closed and empty.
func (l *link) carry() {
	for p := range l.queue {
		time.Sleep(time.Until(p.due))
		l.deliver(p.bytes)
	}
}

// close ends the link. What is on its way arrives.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	close(l.queue)
}

// send sends a packet, which the link does not keep.
func (l *link) send(bytes []byte, now time.Time) {
	if !l.concerns(bytes) {
		l.deliver(bytes)
		return
	}
	if l.Cut || l.Loss > 0 && l.random() < l.Loss {
		return
	}
	if l.Delay == 0 && l.Rate == 0 {
		l.deliver(bytes)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	due, ok := l.pass(len(bytes), now)
	if !ok {
		return
	}
	select {
	case l.queue <- packet{slices.Clone(bytes), due}:
	default: // full
	}
}

// pass returns when a packet arrives that is sent now, and false if it had to wait too long.
func (l *link) pass(size int, now time.Time) (due time.Time, ok bool) {
	if l.Rate > 0 {
		begin := now
		if l.free.After(now) {
			begin = l.free
		}
		if begin.Sub(now) > queueTime {
			return time.Time{}, false
		}
		l.free = begin.Add(time.Duration(int64(size) * 8 * int64(time.Second) / l.Rate))
		now = l.free
	}
	return now.Add(l.Delay), true
}

// concerns reports whether the condition is about a packet.
func (l *link) concerns(bytes []byte) bool {
	if len(l.Ports) == 0 {
		return true
	}
	from, to, ok := portsOf(bytes)
	return ok && (slices.Contains(l.Ports, from) || slices.Contains(l.Ports, to))
}

// seeded is a source of numbers for several goroutines.
func seeded(seed uint64) func() float64 {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // meant to be repeated
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return source.Float64()
	}
}
