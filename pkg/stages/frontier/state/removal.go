package state

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"seine/internal/schedule/politeness"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

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

// pendingDeletion reports whether what is known of a crawl is of one that was deleted.
func (c *crawl) pendingDeletion(rules *Rules) bool {
	return c.Removing != nil || c.Since < rules.Since()
}

// isPendingDeletion is pendingDeletion by what is known of deletions now.
func (s *Partition) isPendingDeletion(name string) bool {
	c, d := s.crawls[name], s.specs.Deletion(name)
	if c == nil && d == nil { // as nearly always
		return false
	}
	state, err := s.stateOf(name)
	if err != nil {
		s.tx.Fail(err)
	}
	return state.known() && (state.Removing != nil || d != nil && state.Since < d.Rev)
}

// known reports whether the store has anything of the crawl.
func (c *crawlState) known() bool { return c.Started != 0 || c.Removing != nil }

// admits returns the rules for a message about a crawl that was made under a
// revision of its spec, nil if the message is of a crawl that was deleted.
func (s *Partition) admits(name string, rev uint64) (*Rules, error) {
	rules, err := s.rules(name, rev)
	if err != nil || rules.Deleted(rev) {
		return nil, err
	}
	c := s.crawl(name)
	c.follow(rules)
	s.keepActive(name, c)
	if !c.known() && c.Since < rules.Since() {
		c.Since = rules.Since()
		c.salt, c.salted = saltOf(name, c.Since, 0), 0
	}
	return rules, nil
}

// remove forgets a part of a crawl that was deleted.
func (s *Partition) remove(name string, c *crawl, rules *Rules, now int64) error {
	if c.Removing == nil {
		return s.beginRemoval(name, c, rules, now)
	}
	at := c.Removing
	if !at.Hosts {
		last, err := s.removeFromHosts(name, at)
		if last {
			*at = removal{Hosts: true}
		}
		c.dirty = true
		return err
	}
	if last, err := s.removeFromTimes(name, at); err != nil || !last {
		c.dirty = true
		return err
	}
	crawlTable.Remove(s.tx.Turn, name, c)
	c.seen.drop()
	delete(s.crawls, name)
	s.gone[name] = true
	s.lookAgainAt(name)
	s.tx.Set(table.Prefix(s.partition, kindUnsaved), nil)
	s.removed++
	s.log.Info("deleted crawl is forgotten", "crawl", name)
	return nil
}

// beginRemoval ends what is in progress, and forgets all that is found named
// the crawl.
func (s *Partition) beginRemoval(name string, c *crawl, rules *Rules, now int64) error {
	for id, req := range s.inFlight {
		if id.crawl == name {
			if err := s.abandon(req, rules, now); err != nil {
				return err
			}
		}
	}
	s.tx.forget(name)
	for _, kind := range removedAtOnce {
		s.tx.DeletePrefix(table.Name(table.Prefix(s.partition, kind), name))
		s.tx.DeletePrefix(table.Name(append(table.Prefix(s.partition, kindSetAside), kind), name))
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
func (s *Partition) abandon(req *Request, rules *Rules, now int64) error {
	if err := s.leaveAlone(req, rules, now); err != nil {
		return err
	}
	s.removeInFlight(req)
	return nil
}

// leaveAlone lets rest whom a request asks that nobody will say of when it is done, for as
// long as it may take.
func (s *Partition) leaveAlone(req *Request, rules *Rules, now int64) error {
	s.addresses.rest(req.ip, longestRequest(rules))
	return s.restAfter(req.host, req.id, req.Sent, rules, now)
}

// longestRequest is how long a request may be under way, of the crawl or of one of its
// name that was deleted.
func longestRequest(rules *Rules) time.Duration {
	timeout := time.Duration(rules.Largest().Timeout)
	if d := rules.Deletion; d != nil {
		timeout = max(timeout, time.Duration(cmp.Or(d.Timeout, messages.Millis(crawlspec.DefaultTimeout))))
	}
	return messages.ClaimTTL(timeout)
}

// restAfter leaves a host alone, and its domain, after a request that was abandoned.
func (s *Partition) restAfter(h *host, id urlID, attempt int, rules *Rules, now int64) error {
	pace, err := s.rulesOf(h)
	if err != nil {
		return err
	}
	if pace == nil { // no crawl wants anything of it now
		pace = new(politeness.Rules)
	}
	d, err := s.domainOf(h)
	if err != nil {
		return err
	}
	seed := binary.BigEndian.Uint64(id.hash[4:12]) ^ uint64(attempt)
	out := politeness.Outcome{Kind: politeness.Abandoned, RetryAfter: longestRequest(rules)}
	h.polite.End(pace, s.time.pace(now), out, seed)
	d.polite.End(shared(pace), s.time.pace(now), out, seed)
	s.markDirty(h)
	s.touchDomain(d)
	return nil
}

// removeFromHosts takes what a crawl wants of hosts away from some of them, and
// reports whether they were the last.
func (s *Partition) removeFromHosts(name string, at *removal) (last bool, err error) {
	pre := table.Prefix(s.partition, kindHost)
	var hosts []string
	last, err = s.walk(pre, &at.After, func(key, value []byte) error {
		h := s.hosts[string(key[len(pre):])]
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
		if h, err = s.host(hosts[i]); err == nil {
			err = s.removeWork(h, name)
		}
	}
	return last, err
}

// removeWork takes what a crawl wants of a host away.
func (s *Partition) removeWork(h *host, name string) error {
	d, err := s.domainOf(h)
	if err != nil {
		return err
	}
	s.removePages(d, name)
	for i, w := range h.work {
		if w.crawl != name {
			continue
		}
		if w.queue != nil {
			s.windows--
		}
		h.work = append(h.work[:i], h.work[i+1:]...)
		h.rules = nil
		s.tx.DeletePrefix(s.queuePrefix(h.name, name))
		break
	}
	s.markDirty(h)
	s.touchDomain(d)
	return nil
}

// removePages takes what a crawl had of a domain away.
func (s *Partition) removePages(d *domain, name string) {
	if i := slices.IndexFunc(d.work, func(w *crawlQueue) bool { return w.crawl == name }); i >= 0 {
		d.work = slices.Delete(d.work, i, i+1)
		s.touchDomain(d)
	}
}

// removeFromTimes takes a crawl's URLs out of the index of those that wait, and
// reports whether that was all.
func (s *Partition) removeFromTimes(name string, at *removal) (last bool, err error) {
	pre := table.Prefix(s.partition, kindRetry)
	return s.walk(pre, &at.After, func(key, _ []byte) error {
		if crawl, _, err := table.CutName(key[min(len(pre)+8, len(key)):]); err != nil || crawl == name { // or it leads nowhere
			s.tx.Delete(append([]byte(nil), key...))
		}
		return nil
	})
}

// SnapshotSaved notes that a snapshot was made when so many crawls had been removed. If it is all of
// them, no snapshot is owed for that: the next turn stores it.
func (s *Partition) SnapshotSaved(removed int) {
	if removed == s.removed {
		s.tx.Delete(table.Prefix(s.partition, kindUnsaved))
	}
}
