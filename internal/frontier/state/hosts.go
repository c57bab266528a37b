package state

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// hosts holds the hosts and domains in memory, and those that changed in this turn.
type hosts struct {
	*base
	crawls         *crawls
	active         map[string]*host // the active window
	domains        map[string]*host
	maxHosts       int
	windows        int // number of queues with a window in memory
	touched        []*host
	touchedDomains []*host
}

func newHosts(b *base, of *crawls, most int) *hosts {
	return &hosts{base: b, crawls: of, active: make(map[string]*host), domains: make(map[string]*host), maxHosts: most}
}

// hostOf returns the host of a URL.
func (hs *hosts) hostOf(url string) (*host, error) { return hs.host(weburl.Host(url)) }

// host returns a host or domain from memory or from the store.
func (hs *hosts) host(name string) (*host, error) {
	inMemory := hs.active
	if isDomain(name) {
		inMemory = hs.domains
	}
	if h := inMemory[name]; h != nil {
		return h, nil
	}
	if !isDomain(name) {
		hs.evict()
	}
	h, err := hs.readHost(name)
	if errors.Is(err, errHost) {
		h, err = hs.rebuild(name, err)
	}
	if err == nil {
		hs.forget(h)
		inMemory[name] = h
	}
	return h, err
}

// readHost reads a host or domain from the store.
func (hs *hosts) readHost(name string) (*host, error) {
	h, found, err := hostTable.Load(hs.tx.Turn, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read host %q: %w", name, err)
	case !found:
		return newHost(name), nil
	}
	if h.lined {
		h.first = 0 // the line must be scanned
	}
	h.polite.Bound(hs.time.pace(hs.time.now()))
	return h, nil
}

// rebuild rebuilds a host or domain whose record cannot be read. Its delay applies first, as the
// time of its last request is unknown.
func (hs *hosts) rebuild(name string, cause error) (*host, error) {
	hs.reportRepair(repairHost, "the record of a host or domain cannot be read; it is rebuilt", "host", name, "error", cause)
	h := newHost(name)
	h.polite.End(&politeness.Rules{}, hs.time.pace(hs.time.now()), politeness.Outcome{Kind: politeness.Neutral}, 0)
	h.written = hs.crawls.lastRemoval
	count := hs.countURLs
	if isDomain(name) {
		count = hs.countPages
	}
	if err := count(h); err != nil {
		return nil, err
	}
	hs.markDirty(h)
	return h, hs.setAside(hostTable.At(hs.partition, name))
}

// countURLs counts the queues and the pages of a host.
func (hs *hosts) countURLs(h *host) error {
	first := messages.HashHost(h.name)
	crawls, err := hs.crawls.names()
	if err != nil {
		return err
	}
	for _, crawl := range crawls {
		w := &hostQueue{crawl: crawl}
		if hs.crawls.removals[crawl] == nil {
			err = hs.store.scan(hs.queuePrefix(h.name, crawl), nil, func(_, _ []byte) (bool, error) { w.queued++; return true, nil })
			if err != nil {
				return err
			}
		}
		// URLs of a host have the first bytes of their hashes in common.
		of := append(table.Name(table.Prefix(hs.partition, kindURL), crawl), first[:]...)
		err = hs.store.scan(of, nil, func(_, value []byte) (bool, error) {
			if r, err := decodeRecord(value); err == nil && r.Fetched && weburl.Host(r.URL) == h.name {
				w.pages++
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		if w.queued > 0 || w.pages > 0 {
			h.work = append(h.work, w)
		}
	}
	for crawl := range hs.crawls.removals { // it is unknown whether its queue belongs to the deleted crawl
		hs.tx.DeletePrefix(hs.queuePrefix(h.name, crawl))
		hs.audit(crawl)
	}
	return nil
}

// countPages counts the pages of a domain from those of its hosts.
func (hs *hosts) countPages(d *host) error {
	d.lined, d.first = true, 0
	pre := table.Prefix(hs.partition, kindHost)
	return hs.store.scan(pre, append(bytes.Clone(pre), afterDomains), func(key, value []byte) (bool, error) {
		h := newHost(string(key[len(pre):]))
		if h.domainName() != d.name {
			return true, nil
		}
		if live := hs.active[h.name]; live != nil {
			h = live
		} else if stored, err := decodeHost(h.name, value); err == nil { // an unreadable host is rebuilt and reported when it is loaded
			h = stored
		}
		for _, w := range h.work {
			if !hs.crawls.isRemoved(w.crawl, h.written) {
				d.of(w.crawl).pages += w.pages
			}
		}
		return true, nil
	})
}

// forget removes the queues and counts of deleted crawls from a host or domain.
func (hs *hosts) forget(h *host) {
	removed := func(w *hostQueue) bool { return hs.crawls.isRemoved(w.crawl, h.written) }
	if slices.ContainsFunc(h.work, removed) {
		for _, w := range h.work {
			if removed(w) {
				hs.dropWindow(w)
				hs.tx.DeletePrefix(hs.queuePrefix(h.name, w.crawl))
			}
		}
		h.work, h.rules = slices.DeleteFunc(h.work, removed), nil
		hs.markDirty(h)
	}
	h.written = max(h.written, hs.crawls.lastRemoval)
}

// forgetAll calls forget for all hosts and domains in memory.
func (hs *hosts) forgetAll() {
	for _, d := range hs.domains {
		hs.forget(d)
	}
	for _, h := range hs.active {
		hs.forget(h)
	}
}

// markDirty notes that a host or domain has changed.
func (hs *hosts) markDirty(h *host) {
	touched := &hs.touched
	if isDomain(h.name) {
		touched = &hs.touchedDomains
	}
	if !h.dirty {
		h.dirty = true
		*touched = append(*touched, h)
	}
}

// evict makes room in the window of hosts. It also drops domains that no host in memory belongs to.
func (hs *hosts) evict() {
	if len(hs.active) < hs.maxHosts {
		return
	}
	for name, h := range hs.active {
		if h.inFlight == 0 && !h.dirty && !h.ready {
			for _, w := range h.work {
				hs.dropWindow(w)
			}
			if h.domain != nil {
				h.domain.refs--
			}
			delete(hs.active, name)
		}
		if len(hs.active) < hs.maxHosts*7/8 {
			break
		}
	}
	maps.DeleteFunc(hs.domains, func(_ string, d *host) bool { return d.refs == 0 && d.inFlight == 0 && !d.dirty })
}

// rulesOf returns the strictest politeness rules of the host's active crawls, nil if it has none.
func (hs *hosts) rulesOf(h *host) (*politeness.Rules, error) {
	if h.rules != nil && h.rulesFor == hs.crawls.specsGen {
		return h.rules, nil
	}
	var strictest *politeness.Rules
	name, grouped := h.hostname(), false
	for _, w := range h.work {
		if !w.active() {
			continue
		}
		r, err := hs.crawls.rules(w.crawl, 0)
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
	h.rules, h.rulesFor, h.grouped, h.shared = strictest, hs.crawls.specsGen, grouped, nil
	if grouped {
		h.shared = shared(strictest)
	}
	return strictest, nil
}

// park takes a crawl's queue at a host out of the schedule until unpark. The crawl is paused or has
// spent its budget, so checking its hosts repeatedly would be useless.
func (hs *hosts) park(h *host, w *hostQueue) {
	w.parked = true
	h.rules = nil
	hs.markDirty(h)
}

// probe allows a request to an abandoned host, because a person wants it.
func (hs *hosts) probe(name string) error {
	h, err := hs.host(name)
	if err != nil {
		return err
	}
	h.polite.Probe()
	hs.markDirty(h)
	return nil
}

// relist updates a host whose crawls have changed their grouping: it enters or leaves the line of
// its domain.
func (hs *hosts) relist(h *host) error {
	_, err := hs.rulesOf(h)
	if h.due != 0 && h.grouped != (h.line != "") {
		hs.markDirty(h)
	}
	return err
}

// pages returns the queue state that counts pages for max_pages_per_host: the host's, or its
// domain's if the crawl groups by domain.
func (hs *hosts) pages(h *host, crawl string, rules *Rules) (*hostQueue, error) {
	if rules.GroupBy != crawlspec.GroupByDomain {
		return h.of(crawl), nil
	}
	d, err := hs.domainOf(h)
	if err != nil {
		return nil, err
	}
	return d.of(crawl), nil
}

// dropWindow drops the window of a queue from memory.
func (hs *hosts) dropWindow(w *hostQueue) {
	if w.queue != nil {
		w.queue = nil
		hs.windows--
	}
}

// domainOf returns the domain of a host.
func (hs *hosts) domainOf(h *host) (*host, error) {
	if h.domain == nil {
		d, err := hs.host(h.domainName())
		if err != nil {
			return nil, err
		}
		h.domain = d
		d.refs++
	}
	return h.domain, nil
}
