package state

// setCount corrects the length that a host records for a crawl's queue.
func (qs *queues) setCount(h *host, w *hostQueue, n int) {
	if n == w.queued {
		return
	}
	qs.reportRepair(repairQueue, "a queue has another number of URLs than its host counts", "host", h.name, "crawl", w.crawl, "counted", w.queued, "queued", n)
	qs.hosts.dropWindow(w)
	w.queued, h.rules = n, nil
	qs.hosts.markDirty(h)
	qs.audit(w.crawl)
}

// recountQueue counts the URLs in a crawl's queue at a host.
func (qs *queues) recountQueue(h *host, w *hostQueue) error {
	n := 0
	err := qs.store.scan(qs.queuePrefix(h.name, w.crawl), nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
	if err == nil {
		qs.setCount(h, w, n)
	}
	return err
}

// misplaced removes a queue entry that does not match a URL queued there, and requeues the URL
// where it belongs.
func (qs *queues) misplaced(pl queueKey, r *urlRecord, id urlID, h *host) error {
	if key := append(qs.queuePrefix(h.name, id.crawl), pl[:]...); r == nil || !r.Has(key) {
		qs.tx.Delete(key)
	}
	qs.reportRepair(repairQueue, "a queue has a URL that does not belong there, it is taken out", "host", h.name, "crawl", id.crawl, "url_hash", id.hash)
	qs.dropAt(pl, id.crawl, h)
	qs.audit(id.crawl)
	if r == nil || r.State != Queued {
		return nil
	}
	return qs.verifyURL(r, id)
}

// verifyURL restores the missing index keys of a URL.
func (qs *queues) verifyURL(r *urlRecord, id urlID) error {
	queued := false
	err := qs.tx.Verify(r, func(kind byte) {
		qs.reportRepair(repairOf(kind), "an index lacks a URL, it is added", "index", string(kind), "url", r.URL)
		qs.urls.nextRetry = min(qs.urls.nextRetry, r.Due)
		queued = queued || kind == kindQueue
	})
	if err != nil || !queued {
		return err
	}
	h, err := qs.hosts.hostOf(r.URL)
	if err == nil {
		qs.push(r, id, h)
	}
	return err
}
