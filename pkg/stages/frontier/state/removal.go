package state

import (
	"slices"

	"seine/pkg/stages/frontier/table"
)

// Removals forget crawls that were deleted.
type Removals struct {
	*core
	requests *Requests
	removed  int // deleted crawls that were forgotten, and may be in the last snapshot
}

// removal is how far a partition has forgotten a crawl that was deleted. What has
// the name of the crawl first in its keys goes at once, as ranges; what the hosts
// and the index of times know of it goes step by step, over turns and restarts.
type removal struct {
	Hosts bool   `json:"hosts,omitempty"` // the hosts are done
	After []byte `json:"after,omitempty"` // the last key done of the hosts, or of the times
}

// removedAtOnce are the kinds whose keys begin with the name of the crawl.
var removedAtOnce = []byte{
	kindURL, kindFailed, kindInFlight, kindSeed, kindParked, kindOrder, kindOpened, kindOpening, kindBarred, kindLinks, kindUnchanged, kindRun, kindInherited,
}

// loadUnsaved finds out whether a snapshot was still to be made when the store was
// closed, of a state from which a crawl was removed.
func (r *Removals) loadUnsaved() error {
	unsaved, err := r.store.has(table.Prefix(r.partition, kindUnsaved))
	if unsaved {
		r.removed++
	}
	return err
}

// Count counts the deleted crawls that were removed since the store was opened, and
// those before whose removal no snapshot has.
func (r *Removals) Count() int { return r.removed }

// SnapshotSaved notes that a snapshot was made when so many crawls had been removed. If it is all of
// them, no snapshot is owed for that: the next turn stores it.
func (r *Removals) SnapshotSaved(removed int) {
	if removed == r.removed {
		r.tx.Delete(table.Prefix(r.partition, kindUnsaved))
	}
}

// remove forgets a part of a crawl that was deleted.
func (r *Removals) remove(name string, c *crawl, rules *Rules, now int64) error {
	if c.Removing == nil {
		return r.beginRemoval(name, c, rules, now)
	}
	at := c.Removing
	if !at.Hosts {
		last, err := r.removeFromHosts(name, at)
		if last {
			*at = removal{Hosts: true}
		}
		c.dirty = true
		return err
	}
	if last, err := r.removeFromTimes(name, at); err != nil || !last {
		c.dirty = true
		return err
	}
	crawlTable.Remove(r.tx.Turn, name, c)
	c.seen.drop()
	delete(r.crawls.active, name)
	r.crawls.gone[name] = true
	r.crawls.lookAgainAt(name)
	r.tx.Set(table.Prefix(r.partition, kindUnsaved), nil)
	r.removed++
	r.log.Info("deleted crawl is forgotten", "crawl", name)
	return nil
}

// beginRemoval ends what is in progress, and forgets all that is found named
// the crawl.
func (r *Removals) beginRemoval(name string, c *crawl, rules *Rules, now int64) error {
	for id, req := range r.urls.inFlight {
		if id.crawl == name {
			if err := r.abandon(req, rules, now); err != nil {
				return err
			}
		}
	}
	r.tx.forget(name)
	for _, kind := range removedAtOnce {
		r.tx.DeletePrefix(table.Name(table.Prefix(r.partition, kind), name))
		r.tx.DeletePrefix(table.Name(append(table.Prefix(r.partition, kindSetAside), kind), name))
	}
	c.seen.drop()
	anew := newCrawl(name)
	anew.Row = c.Row
	anew.rules, anew.rulesFor, anew.wasStale = c.rules, c.rulesFor, c.wasStale
	*c = *anew
	c.Removing, c.dirty = &removal{}, true
	return nil
}

// abandon ends a request that a fetcher may be at, for a crawl that was deleted.
func (r *Removals) abandon(req *Request, rules *Rules, now int64) error {
	if err := r.requests.leaveAlone(req, rules, now); err != nil {
		return err
	}
	r.requests.removeInFlight(req)
	return nil
}

// removeFromHosts takes what a crawl wants of hosts away from some of them, and
// reports whether they were the last.
func (r *Removals) removeFromHosts(name string, at *removal) (last bool, err error) {
	pre := table.Prefix(r.partition, kindHost)
	var hosts []string
	last, err = r.walk(pre, &at.After, func(key, value []byte) error {
		h := r.hosts.active[string(key[len(pre):])]
		if h == nil {
			var err error
			if h, err = decodeHost(string(key[len(pre):]), value); err != nil {
				hosts = append(hosts, string(key[len(pre):])) // it is made again
				return nil
			}
		}
		if h.wants(name) {
			hosts = append(hosts, h.name)
		}
		return nil
	})
	for i := 0; err == nil && i < len(hosts); i++ {
		var h *host
		if h, err = r.hosts.host(hosts[i]); err == nil {
			err = r.removeWork(h, name)
		}
	}
	return last, err
}

// removeWork takes what a crawl wants of a host away.
func (r *Removals) removeWork(h *host, name string) error {
	d, err := r.hosts.domainOf(h)
	if err != nil {
		return err
	}
	r.removePages(d, name)
	for i, w := range h.work {
		if w.crawl != name {
			continue
		}
		if w.queue != nil {
			r.hosts.windows--
		}
		h.work = append(h.work[:i], h.work[i+1:]...)
		h.rules = nil
		r.tx.DeletePrefix(r.queuePrefix(h.name, name))
		break
	}
	r.hosts.markDirty(h)
	r.hosts.touchDomain(d)
	return nil
}

// removePages takes what a crawl had of a domain away.
func (r *Removals) removePages(d *domain, name string) {
	if i := slices.IndexFunc(d.work, func(w *crawlQueue) bool { return w.crawl == name }); i >= 0 {
		d.work = slices.Delete(d.work, i, i+1)
		r.hosts.touchDomain(d)
	}
}

// removeFromTimes takes a crawl's URLs out of the index of those that wait, and
// reports whether that was all.
func (r *Removals) removeFromTimes(name string, at *removal) (last bool, err error) {
	pre := table.Prefix(r.partition, kindRetry)
	return r.walk(pre, &at.After, func(key, _ []byte) error {
		if crawl, _, err := table.CutName(key[min(len(pre)+8, len(key)):]); err != nil || crawl == name { // or it leads nowhere
			r.tx.Delete(append([]byte(nil), key...))
		}
		return nil
	})
}
