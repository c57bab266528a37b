package state

import (
	"bytes"
	"encoding/binary"
	"slices"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// queues manages the URLs that wait for their hosts.
type queues struct {
	*base
	hosts         *hosts
	urls          *urls
	changedInTurn []*hostQueue
}

// queueKey is the part of a queue key after host and crawl: the order, and the URL's hash.
type queueKey [1 + 2 + 8 + 16]byte

func newQueueKey(r *urlRecord, hash messages.URLHash) (pl queueKey) {
	pl[0] = r.Priority
	binary.BigEndian.PutUint16(pl[1:], uint16(r.Depth))
	binary.BigEndian.PutUint64(pl[3:], r.Arrival)
	copy(pl[11:], hash[:])
	return pl
}

func (pl queueKey) hash() messages.URLHash { return messages.URLHash(pl[11:]) }

// queue is a window on the head of a host's queue, which is on disk. It avoids searching the store
// for the first entry after deleted ones, which is what makes a queue in an LSM tree slow.
type queue struct {
	window []queueKey // ascending; the first is next
	more   bool       // the store may have entries after passed
	passed queueKey   // while more: all entries up to here are in the window or deleted
}

// queueChange is an entry stored or deleted in the current turn, which the store does not show yet.
type queueChange struct {
	key   queueKey
	added bool
}

// Entries of a host's queue in memory, 27 bytes each. A served host needs one search of the store
// for so many dispatches. For a waiting host, the window suffices for a small site.
const (
	queueWindow  = 32
	waitingQueue = 8
)

func compareQueueKeys(a, b queueKey) int { return bytes.Compare(a[:], b[:]) }

// add records a newly stored entry; limit is the size of the window.
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

// remove removes a deleted entry from the window.
func (q *queue) remove(pl queueKey) {
	if i, ok := slices.BinarySearchFunc(q.window, pl, compareQueueKeys); ok {
		q.window = slices.Delete(q.window, i, i+1)
	}
}

// queueOf returns the window of a crawl's queue at a host.
func (qs *queues) queueOf(w *hostQueue) *queue {
	if w.queue == nil {
		// fill finds out what the store has.
		w.queue = &queue{more: w.queued > 0}
		qs.hosts.windows++
	}
	return w.queue
}

// head returns the first URL in a crawl's queue at a host, nil if there is none.
//
// The queue is ordered by priority, then by depth, then by arrival, the lowest number of each first
// (newQueueKey). arrival is the order in which the partition found the URLs. This order applies
// within one crawl and one host only: Dispatcher.Next has the hosts take turns, and nextOfHost the
// crawls of a host.
func (qs *queues) head(h *host, w *hostQueue) (*urlRecord, urlID, error) {
	for range maxDiscard {
		q := qs.queueOf(w)
		if err := qs.fill(h, w, q); err != nil {
			return nil, urlID{}, err
		}
		if len(q.window) == 0 {
			qs.hosts.dropWindow(w)
			qs.setCount(h, w, 0)
			return nil, urlID{}, nil
		}
		pl := q.window[0]
		id := urlID{w.crawl, pl.hash()}
		r, err := qs.urls.record(id)
		if err != nil || r != nil && r.State == Queued && newQueueKey(r, id.hash) == pl && weburl.Host(r.URL) == h.name {
			return r, id, err
		}
		if err := qs.misplaced(pl, r, id, h); err != nil {
			return nil, urlID{}, err
		}
	}
	return nil, urlID{}, nil
}

// discard removes up to maxDiscard URLs from the queue of a crawl at a host and calls end for each.
func (qs *queues) discard(h *host, w *hostQueue, end func(*urlRecord, urlID) error) error {
	for range maxDiscard {
		if w.queued == 0 {
			return nil
		}
		r, id, err := qs.head(h, w)
		if err != nil || r == nil {
			return err
		}
		qs.drop(r, id, h)
		if err := end(r, id); err != nil {
			return err
		}
	}
	return nil
}

// maxDiscard limits the URLs discarded in one call.
const maxDiscard = 4 * queueWindow

// fill loads the head of the queue into an empty window, from the store and the current turn's
// changes.
func (qs *queues) fill(h *host, w *hostQueue, q *queue) error {
	if len(q.window) > 0 || !q.more {
		return nil
	}
	added, deleted := w.changesAfter(q.passed)
	pre := qs.queuePrefix(h.name, w.crawl)
	from := append(append(pre[:len(pre):len(pre)], q.passed[:]...), 0)
	q.more = false
	err := qs.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		if len(key)-len(pre) != len(queueKey{}) {
			qs.stray(key)
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

// merge adds entries that the store does not show yet to a window read from the store. If the
// window is full, it drops the entries beyond it.
func (q *queue) merge(added []queueKey) {
	q.window = append(q.window, added...)
	slices.SortFunc(q.window, compareQueueKeys)
	q.window = slices.Compact(q.window)
	if len(q.window) > queueWindow {
		q.window, q.more = q.window[:queueWindow], true
	}
}

// changesAfter returns the entries after passed that were added and deleted in the current turn.
func (w *hostQueue) changesAfter(passed queueKey) (added []queueKey, deleted map[queueKey]bool) {
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

// changed records that a queue entry was stored or deleted in this turn.
func (qs *queues) changed(w *hostQueue, pl queueKey, added bool) {
	if len(w.changes) == 0 {
		qs.changedInTurn = append(qs.changedInTurn, w)
	}
	w.changes = append(w.changes, queueChange{pl, added})
}

// push adds a URL to the queue of its host.
func (qs *queues) push(r *urlRecord, id urlID, h *host) {
	pl := newQueueKey(r, id.hash)
	w := h.of(id.crawl)
	limit := waitingQueue
	if h.ready {
		limit = queueWindow
	}
	q := qs.queueOf(w)
	q.add(pl, max(limit, len(q.window)))
	qs.changed(w, pl, true)
	if w.queued++; w.queued == 1 {
		h.rules = nil // this crawl affects the host's rules now
	}
	qs.hosts.markDirty(h)
}

// drop removes a URL from its queue.
func (qs *queues) drop(r *urlRecord, id urlID, h *host) {
	qs.dropAt(newQueueKey(r, id.hash), id.crawl, h)
}

func (qs *queues) dropAt(pl queueKey, crawl string, h *host) {
	w := h.of(crawl)
	q := qs.queueOf(w)
	q.remove(pl)
	qs.changed(w, pl, false)
	if w.queued--; w.queued <= 0 {
		w.queued, h.rules = 0, nil
		qs.tx.Fail(qs.fill(h, w, q))
		qs.setCount(h, w, len(q.window)) // the count may have been wrong
		qs.hosts.dropWindow(w)
	}
	qs.hosts.markDirty(h)
}

// evictWindows drops the windows of hosts that are not being served when there are too many. The
// store has their entries.
func (qs *queues) evictWindows() {
	most := qs.hosts.maxHosts / 4 // a window takes 1.7 KiB at most
	if qs.hosts.windows <= most {
		return
	}
	for _, h := range qs.hosts.active {
		if h.ready || h.dirty {
			continue
		}
		for _, w := range h.work {
			qs.hosts.dropWindow(w)
		}
		if qs.hosts.windows <= most/2 {
			return
		}
	}
}
