package state

import (
	"bytes"
	"encoding/binary"
	"slices"

	"seine/pkg/messages"
)

// queueKey is the part of a queue key after host and crawl: its order, and which
// URL it is.
type queueKey [1 + 2 + 8 + 16]byte

func newQueueKey(r *urlRecord, hash messages.URLHash) (pl queueKey) {
	pl[0] = r.Priority
	binary.BigEndian.PutUint16(pl[1:], uint16(r.Depth))
	binary.BigEndian.PutUint64(pl[3:], r.Arrival)
	copy(pl[11:], hash[:])
	return pl
}

func (pl queueKey) hash() messages.URLHash { return messages.URLHash(pl[11:]) }

// queue is a window on the head of a host's queue, which is on the disk. It
// spares the store the search for the first entry behind those deleted before
// it, which is what makes a queue in an LSM tree slow.
type queue struct {
	window []queueKey // ascending; the next to go first
	more   bool       // the store may have entries after passed
	passed queueKey   // while more: all up to here is in the window, or gone
}

// queueChange is an entry that was stored or deleted in the turn under way: the store does
// not show that yet.
type queueChange struct {
	key   queueKey
	added bool
}

// Entries of a host's queue in memory, 27 bytes each: while the host is being
// served, one search of the store for as many dispatches; and while it waits
// for its turn, enough for a small site.
const (
	queueWindow  = 32
	waitingQueue = 8
)

func compareQueueKeys(a, b queueKey) int { return bytes.Compare(a[:], b[:]) }

// add takes note of an entry that is being stored; limit is how many the window
// may hold.
func (q *queue) add(pl queueKey, limit int) {
	if q.more && compareQueueKeys(pl, q.passed) > 0 {
		return
	}
	i, there := slices.BinarySearchFunc(q.window, pl, compareQueueKeys)
	if there {
		return
	}
	q.window = slices.Insert(q.window, i, pl)
	if len(q.window) > limit {
		q.window = q.window[:limit]
		q.passed, q.more = q.window[limit-1], true
	}
}

// remove forgets an entry that is being deleted.
func (q *queue) remove(pl queueKey) {
	if i, ok := slices.BinarySearchFunc(q.window, pl, compareQueueKeys); ok {
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

// evictWindows drops the windows of hosts that are not being served, when there are
// too many. The store has what was in them.
func (s *Partition) evictWindows() {
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

// fill loads the head of the queue into an empty window: what the store shows, and what the
// turn under way has changed since.
func (s *Partition) fill(h *host, w *crawlQueue, q *queue) error {
	if len(q.window) > 0 || !q.more {
		return nil
	}
	added, deleted := w.changesAfter(q.passed)
	pre := s.queuePrefix(h.name, w.crawl)
	from := append(append(pre[:len(pre):len(pre)], q.passed[:]...), 0)
	q.more = false
	err := s.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		if len(key)-len(pre) != len(queueKey{}) {
			s.stray(key)
			return true, nil
		}
		pl := queueKey(key[len(pre):])
		switch {
		case deleted[pl]:
			return true, nil
		case len(q.window) == queueWindow:
			q.more = true
			return false, nil
		}
		q.window = append(q.window, pl)
		return true, nil
	})
	q.merge(added)
	if len(q.window) > 0 {
		q.passed = q.window[len(q.window)-1]
	}
	return err
}

// merge takes entries that the store does not show into a window that was read from it, which
// is full if the store has more: what lies behind that falls out again.
func (q *queue) merge(added []queueKey) {
	q.window = append(q.window, added...)
	slices.SortFunc(q.window, compareQueueKeys)
	q.window = slices.Compact(q.window)
	if len(q.window) > queueWindow {
		q.window, q.more = q.window[:queueWindow], true
	}
}

// changesAfter returns the entries behind a place that were added in the turn under way, and
// those that were deleted.
func (w *crawlQueue) changesAfter(passed queueKey) (added []queueKey, deleted map[queueKey]bool) {
	deleted = make(map[queueKey]bool)
	for _, c := range w.changes {
		if compareQueueKeys(c.key, passed) > 0 {
			deleted[c.key] = !c.added
		}
	}
	for pl, gone := range deleted {
		if !gone {
			added = append(added, pl)
		}
	}
	return added, deleted
}

// changed notes that an entry of a queue was stored or deleted in this turn.
func (s *Partition) changed(w *crawlQueue, pl queueKey, added bool) {
	if len(w.changes) == 0 {
		s.changedQueues = append(s.changedQueues, w)
	}
	w.changes = append(w.changes, queueChange{pl, added})
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
	s.changed(w, pl, true)
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
	s.changed(w, pl, false)
	if w.queued--; w.queued <= 0 {
		if len(q.window) > 0 || q.more { // there may be others, if the count was wrong
			s.emptied = append(s.emptied, emptied{h, w})
		}
		w.queued, h.rules = 0, nil
		s.dropWindow(w)
	}
	s.markDirty(h)
}
