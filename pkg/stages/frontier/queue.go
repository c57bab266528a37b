package frontier

import (
	"bytes"
	"slices"
)

// queue is a window on the head of a host's queue, which is on the disk. It
// spares the store the search for the first entry behind those deleted before
// it, which is what makes a queue in an LSM tree slow.
type queue struct {
	window []place // ascending; the next to go first
	more   bool    // the store may have entries after passed
	passed place   // while more: all up to here is in the window, or gone
	behind bool    // an entry after passed is not committed yet
}

// queueWindow is how many entries of a host's queue are in memory: 27 bytes
// each, and one search of the store for as many dispatches.
const queueWindow = 256

func comparePlaces(a, b place) int { return bytes.Compare(a[:], b[:]) }

// add takes note of an entry that is being stored.
func (q *queue) add(pl place) {
	if q.more && comparePlaces(pl, q.passed) > 0 {
		q.behind = true
		return
	}
	i, _ := slices.BinarySearchFunc(q.window, pl, comparePlaces)
	q.window = slices.Insert(q.window, i, pl)
	if len(q.window) > queueWindow {
		q.window = q.window[:queueWindow]
		q.passed = q.window[queueWindow-1]
		q.more, q.behind = true, true
	}
}

// remove forgets an entry that is being deleted.
func (q *queue) remove(pl place) {
	if i, ok := slices.BinarySearchFunc(q.window, pl, comparePlaces); ok {
		q.window = slices.Delete(q.window, i, i+1)
	}
}

// queueOf returns the window on the host's queue of a crawl.
func (s *shard) queueOf(h *host, crawl string) *queue {
	q := h.queues[crawl]
	if q == nil {
		// What the store has is unknown until fill looks.
		q = &queue{more: h.Queued[crawl] > 0}
		if h.queues == nil {
			h.queues = make(map[string]*queue)
		}
		h.queues[crawl] = q
	}
	return q
}

// fill loads the head of the queue into an empty window. It must wait for a
// commit while there is an entry behind that the store does not show yet.
func (s *shard) fill(h *host, crawl string, q *queue) error {
	if len(q.window) > 0 || !q.more || q.behind {
		return nil
	}
	pre := s.queuePrefix(h.name, crawl)
	from := append(append(pre[:len(pre):len(pre)], q.passed[:]...), 0)
	q.more = false
	return s.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		if len(q.window) == queueWindow {
			q.more = true
			return false, nil
		}
		q.window = append(q.window, place(key[len(pre):]))
		q.passed = q.window[len(q.window)-1]
		return true, nil
	})
}

// push queues a URL.
func (s *shard) push(r *record, id urlID, h *host) {
	pl := newPlace(r, id.hash)
	q := s.queueOf(h, id.crawl)
	q.add(pl)
	if q.behind {
		s.behind = append(s.behind, q)
	}
	s.tx.set(append(s.queuePrefix(h.name, id.crawl), pl[:]...), nil)
	if h.Queued == nil {
		h.Queued = make(map[string]int)
	}
	h.Queued[id.crawl]++
	s.touch(h)
}

// drop takes a URL out of its queue.
func (s *shard) drop(r *record, id urlID, h *host) {
	pl := newPlace(r, id.hash)
	s.queueOf(h, id.crawl).remove(pl)
	s.tx.delete(append(s.queuePrefix(h.name, id.crawl), pl[:]...))
	if h.Queued[id.crawl]--; h.Queued[id.crawl] <= 0 {
		delete(h.Queued, id.crawl)
		delete(h.queues, id.crawl)
	}
	s.touch(h)
}
