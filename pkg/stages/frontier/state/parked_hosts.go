package state

// park takes what a crawl wants of a host out of the schedule, until unpark.
// The crawl is paused, or has spent its budget: looking at its hosts again and
// again would find nothing else.
func (s *Partition) park(h *host, w *crawlQueue) {
	w.parked = true
	h.rules = nil
	s.tx.set(s.parkedKey(w.crawl, h.name), nil)
	s.markDirty(h)
}

// unpark puts back what is parked of a crawl, some hosts in each call. It
// reports whether that was all.
func (s *Partition) unpark(name string, now int64) (done bool, err error) {
	pre := named(prefix(s.partition, kindParked), name)
	var hosts []string
	done = true
	err = s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		if done = len(hosts) < maxDue; done {
			hosts = append(hosts, string(key[len(pre):]))
		}
		return done, nil
	})
	for i := 0; err == nil && i < len(hosts); i++ {
		err = s.unparkHost(name, hosts[i], now)
	}
	return done, err
}

func (s *Partition) unparkHost(crawl, name string, now int64) error {
	h, err := s.host(name)
	if err != nil {
		return err
	}
	s.tx.delete(s.parkedKey(crawl, name))
	h.of(crawl).parked, h.rules = false, nil
	s.markDirty(h)
	return s.readyIfDue(h, now)
}
