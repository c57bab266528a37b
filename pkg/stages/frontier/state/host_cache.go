package state

import (
	"errors"
	"fmt"

	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
)

// hostOf returns the host of a URL.
func (s *Partition) hostOf(url string) (*host, error) { return s.host(weburl.Host(url)) }

// host returns a host, from memory or from the store.
func (s *Partition) host(name string) (*host, error) {
	if h := s.hosts[name]; h != nil {
		return h, nil
	}
	s.evict()
	h, err := s.readHost(name)
	if errors.Is(err, errHost) {
		h, err = s.rebuildHost(name, err)
	}
	if err == nil {
		s.hosts[name] = h
	}
	return h, err
}

// readHost reads a host from the store.
func (s *Partition) readHost(name string) (*host, error) {
	h, found, err := hostTable.Load(s.tx.Turn, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read host %s: %w", name, err)
	case !found:
		return &host{name: name}, nil
	}
	h.polite.Bound(s.time.pace(s.time.now()))
	return h, nil
}

// evict makes room in the window of hosts.
func (s *Partition) evict() {
	if len(s.hosts) < s.maxHosts {
		return
	}
	for name, h := range s.hosts {
		if h.inFlight == 0 && !h.dirty && !h.ready {
			for _, w := range h.work {
				if w.queue != nil {
					s.windows--
				}
			}
			if h.domain != nil {
				h.domain.refs--
			}
			delete(s.hosts, name)
		}
		if len(s.hosts) < s.maxHosts*7/8 {
			break
		}
	}
	s.evictDomains()
}

// markDirty notes that a host changed.
func (s *Partition) markDirty(h *host) {
	if !h.dirty {
		h.dirty = true
		s.touched = append(s.touched, h)
	}
}

// rulesOf returns how a host is to be asked: the strictest of what its crawls
// say.
func (s *Partition) rulesOf(h *host) (*politeness.Rules, error) {
	if h.rules != nil && h.rulesFor == s.specsGen {
		return h.rules, nil
	}
	var strictest *politeness.Rules
	name, grouped := h.hostname(), false
	for _, w := range h.work {
		if !w.active() {
			continue
		}
		r, err := s.rules(w.crawl, 0)
		if err != nil {
			return nil, err
		}
		grouped = grouped || r.GroupBy == crawlspec.GroupByDomain
		if p := r.paceOf(name); strictest == nil {
			strictest = &p.Rules
		} else {
			both := politeness.Strictest(*strictest, p.Rules)
			strictest = &both
		}
	}
	h.rules, h.rulesFor, h.grouped, h.shared = strictest, s.specsGen, grouped, nil
	if grouped {
		h.shared = shared(strictest)
	}
	return strictest, nil
}
