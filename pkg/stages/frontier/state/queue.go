package state

import (
	"bytes"
	"slices"
)

// queue is a window on the head of a host's queue, which is on the disk. It
// spares the store the search for the first entry behind those deleted before
// it, which is what makes a queue in an LSM tree slow.
type queue struct {
	window []queueKey // ascending; the next to go first
	more   bool       // the store may have entries after passed
	passed queueKey   // while more: all up to here is in the window, or gone
	behind bool       // an entry after passed is not committed yet
}

// Entries of a host's queue in memory, 27 bytes each: while the host is being
// served, one search of the store for as many dispatches; and while it waits
// for its turn, enough for a small site.
const (
	queueWindow  = 32
	waitingQueue = 8
)

func comparePlaces(a, b queueKey) int { return bytes.Compare(a[:], b[:]) }

// add takes note of an entry that is being stored; limit is how many the window
// may hold.
func (q *queue) add(pl queueKey, limit int) {
	if q.more && comparePlaces(pl, q.passed) > 0 {
		q.behind = true
		return
	}
	i, there := slices.BinarySearchFunc(q.window, pl, comparePlaces)
	if there {
		return
	}
	q.window = slices.Insert(q.window, i, pl)
	if len(q.window) > limit {
		q.window = q.window[:limit]
		q.passed = q.window[limit-1]
		q.more, q.behind = true, true
	}
}

// remove forgets an entry that is being deleted.
func (q *queue) remove(pl queueKey) {
	if i, ok := slices.BinarySearchFunc(q.window, pl, comparePlaces); ok {
		q.window = slices.Delete(q.window, i, i+1)
	}
}

// queueOf returns the window on the host's queue of a crawl.
func (s *Partition) queueOf(w *crawlQueue) *queue {
	if w.queue == nil {
		// What the store has is unknown until fill looks.
		w.queue = &queue{more: w.queued > 0}
		s.windows++
	}
	return w.queue
}

// forget drops the windows of hosts that are not being served, when there are
// too many. The store has what was in them.
func (s *Partition) forget() {
	most := s.maxHosts / 4 // 1.7 KiB each at most
	if s.windows <= most {
		return
	}
	for _, h := range s.hosts {
		if h.ready || h.dirty {
			continue
		}
		for _, w := range h.work {
			if w.queue != nil {
				w.queue = nil
				s.windows--
			}
		}
		if s.windows <= most/2 {
			return
		}
	}
}

// fill loads the head of the queue into an empty window. It must wait for a
// commit while there is an entry behind that the store does not show yet.
func (s *Partition) fill(h *host, w *crawlQueue, q *queue) error {
	if len(q.window) > 0 || !q.more || q.behind {
		return nil
	}
	pre := s.queuePrefix(h.name, w.crawl)
	from := append(append(pre[:len(pre):len(pre)], q.passed[:]...), 0)
	q.more = false
	return s.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		if len(q.window) == queueWindow {
			q.more = true
			return false, nil
		}
		if len(key)-len(pre) != len(queueKey{}) {
			s.tx.delete(bytes.Clone(key))
			s.mended(mendQueue, "an entry of a queue cannot be read, it is removed", "host", h.name, "crawl", w.crawl)
			return true, nil
		}
		q.window = append(q.window, queueKey(key[len(pre):]))
		q.passed = q.window[len(q.window)-1]
		return true, nil
	})
}

// push queues a URL.
func (s *Partition) push(r *urlRecord, id urlID, h *host) {
	pl := newQueueKey(r, id.hash)
	w := h.of(id.crawl)
	limit := waitingQueue
	if h.ready {
		limit = queueWindow
	}
	q := s.queueOf(w)
	q.add(pl, max(limit, len(q.window)))
	if q.behind {
		s.behind = append(s.behind, q)
	}
	s.tx.set(append(s.queuePrefix(h.name, id.crawl), pl[:]...), nil)
	if w.queued++; w.queued == 1 {
		h.rules = nil // this crawl counts now
	}
	s.markDirty(h)
}

// dropWindow forgets what is in memory of a queue.
func (s *Partition) dropWindow(w *crawlQueue) {
	if w.queue != nil {
		w.queue = nil
		s.windows--
	}
}

// emptied is a queue that was emptied in this turn, by its count.
type emptied struct {
	h *host
	w *crawlQueue
}

// checkEmptied makes sure, after a commit, that queues without a URL have none.
func (s *Partition) checkEmptied() error {
	for _, e := range s.emptied {
		if e.w.queued > 0 || s.hosts[e.h.name] != e.h {
			continue
		}
		if err := s.recountQueue(e.h, e.w); err != nil {
			return err
		}
	}
	s.emptied = s.emptied[:0]
	return nil
}

// drop takes a URL out of its queue.
func (s *Partition) drop(r *urlRecord, id urlID, h *host) {
	s.dropAt(newQueueKey(r, id.hash), id.crawl, h)
}

func (s *Partition) dropAt(pl queueKey, crawl string, h *host) {
	w := h.of(crawl)
	q := s.queueOf(w)
	q.remove(pl)
	if q.more && comparePlaces(pl, q.passed) > 0 { // the store still shows it
		q.behind = true
		s.behind = append(s.behind, q)
	}
	s.tx.delete(append(s.queuePrefix(h.name, crawl), pl[:]...))
	if w.queued--; w.queued <= 0 {
		if len(q.window) > 0 || q.more { // there may be others, if the count was wrong
			s.emptied = append(s.emptied, emptied{h, w})
		}
		w.queued, h.rules = 0, nil
		s.dropWindow(w)
	}
	s.markDirty(h)
}
