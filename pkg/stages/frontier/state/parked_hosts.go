package state

import (
	"bytes"

	"seine/pkg/stages/frontier/table"
)

// park takes what a crawl wants of a host out of the schedule, until unpark.
// The crawl is paused, or has spent its budget: looking at its hosts again and
// again would find nothing else.
func (s *Partition) park(h *host, w *crawlQueue) {
	w.parked = true
	h.rules = nil
	s.markDirty(h)
}

// unpark puts back what is parked of a crawl, some hosts in each call. It
// reports whether that was all.
func (s *Partition) unpark(name string, now int64) (done bool, err error) {
	pre := table.Name(table.Prefix(s.partition, kindParked), name)
	var hosts [][]byte
	done = true
	err = s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		if done = len(hosts) < maxDue; done {
			hosts = append(hosts, bytes.Clone(key))
		}
		return done, nil
	})
	for i := 0; err == nil && i < len(hosts); i++ {
		err = s.unparkHost(name, hosts[i], string(hosts[i][len(pre):]), now)
	}
	return done, err
}

// unparkHost puts back a host that a key of the index names.
func (s *Partition) unparkHost(crawl string, key []byte, name string, now int64) error {
	h, err := s.host(name)
	if err != nil {
		return err
	}
	if !h.Has(key) {
		s.stray(key)
		return nil
	}
	h.of(crawl).parked, h.rules = false, nil
	s.markDirty(h)
	return s.readyIfDue(h, now)
}
