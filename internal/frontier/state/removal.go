package state

import (
	"bytes"
	"fmt"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
)

// Removals removes deleted crawls. Keys that begin with the name of the crawl are deleted at once,
// in the turn that finds the deletion. The next crawl of the name begins with the turn after.
// Hosts, domains and the index of times are cleaned up step by step, while that crawl works.
type Removals struct {
	*core
	requests *Requests
	removed  int // deleted crawls that were removed but may be in the last snapshot
}

// removal is the progress of removing a crawl from hosts, domains and the index of times.
type removal struct {
	// Began is the start in the partition's time. Hosts and domains written before may name the
	// crawl. No two removals have the same Began.
	Began uint64 `json:"began"`
	Hosts bool   `json:"hosts,omitempty"` // all hosts are done
	After []byte `json:"after,omitempty"` // the last key processed, of the hosts or of the times
}

// lastRemoval replaces the crawl in the key of the removal that began last. No other removal begins
// at the same time or earlier.
const lastRemoval = ""

// removedAtOnce are the kinds whose keys begin with the name of the crawl.
var removedAtOnce = []byte{
	kindURL, kindFailed, kindInFlight, kindSeed, kindOrder, kindOpened, kindOpening, kindBarred, kindLinks, kindUnchanged, kindRun, kindInherited,
}

func (r *Removals) key(crawl string) []byte {
	return append(table.Prefix(r.partition, kindRemoval), crawl...)
}

// load reads the removals in progress. It also reads whether the state lacks a removed crawl that
// the last snapshot may have.
func (r *Removals) load() error {
	pre := table.Prefix(r.partition, kindRemoval)
	err := r.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		at := &removal{}
		if err := jsontext.Unmarshal(value, at); err != nil { // leftovers are found when they are read
			r.reportRepair(repairIndex, "how far a removal is cannot be read, it ends", "key", key, "error", err)
			r.tx.Delete(bytes.Clone(key))
			return true, nil
		}
		if name := string(key[len(pre):]); name != lastRemoval {
			r.crawls.startRemoval(name, at)
		}
		r.crawls.lastRemoval = max(r.crawls.lastRemoval, at.Began)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("read removals: %w", err)
	}
	unsaved, err := r.store.has(table.Prefix(r.partition, kindUnsaved))
	if unsaved {
		r.removed++
	}
	return err
}

// Count returns the number of crawls removed since the store was opened, plus 1 if an earlier
// removal is in no snapshot.
func (r *Removals) Count() int { return r.removed }

// SnapshotSaved records that a snapshot was made after so many removals. If that is all of them,
// the next turn records that no snapshot is needed.
func (r *Removals) SnapshotSaved(removed int) {
	if removed == r.removed {
		r.tx.Delete(table.Prefix(r.partition, kindUnsaved))
	}
}

// Begin removes a crawl that was deleted as of a revision of its spec. It reports whether the turn
// must be committed before a message of the crawl is applied: until then the store shows the
// removed state.
func (r *Removals) Begin(name string, rev uint64, now int64) (commit bool, err error) {
	rules, err := r.crawls.rules(name, rev)
	if err == nil {
		err = r.begin(name, rules, now)
	}
	return r.tx.gone[name], err
}

// beginAll calls Begin for all active crawls.
func (r *Removals) beginAll(now int64) error {
	for name := range r.crawls.active {
		if _, err := r.Begin(name, 0, now); err != nil {
			return err
		}
	}
	return nil
}

// begin ends the in-flight requests of a deleted crawl, and replaces it with an empty one.
func (r *Removals) begin(name string, rules *Rules, now int64) error {
	c := r.crawls.get(name)
	if !c.known() || c.Since >= rules.Since() {
		return nil
	}
	for id, req := range r.urls.inFlight {
		if id.crawl != name {
			continue
		}
		if err := r.requests.pacer.abandon(req.host, req.ip, req.id, req.Sent, rules, now); err != nil { // a fetcher may be working on it
			return err
		}
		r.requests.removeInFlight(req)
	}
	r.tx.forget(name)
	for _, kind := range removedAtOnce {
		r.tx.DeletePrefix(table.Name(table.Prefix(r.partition, kind), name))
		r.tx.DeletePrefix(table.Name(append(table.Prefix(r.partition, kindSetAside), kind), name))
	}
	crawlTable.Remove(r.tx.Turn, name, c)
	c.seen.drop()
	anew := newCrawl(name)
	anew.rules, anew.rulesFor, anew.wasStale, anew.dirty = c.rules, c.rulesFor, c.wasStale, true
	*c = *anew
	at := &removal{Began: max(uint64(now), r.crawls.lastRemoval+1)}
	r.tx.SetJSON(r.key(name), at)
	r.tx.SetJSON(r.key(lastRemoval), at)
	r.crawls.startRemoval(name, at)
	r.hosts.forgetAll()
	return nil
}

// proceed cleans up a part of each crawl that is being removed.
func (r *Removals) proceed() error {
	for name, at := range r.crawls.removals {
		do := r.removeFromTimes
		if !at.Hosts {
			do = r.removeFromHosts
		}
		last, err := do(name, at)
		switch {
		case err != nil:
			return err
		case last && at.Hosts:
			r.end(name)
			continue
		case last:
			at.Hosts, at.After = true, nil
		}
		r.tx.SetJSON(r.key(name), at)
	}
	return nil
}

func (r *Removals) end(name string) {
	delete(r.crawls.removals, name)
	r.tx.Delete(r.key(name))
	r.tx.Set(table.Prefix(r.partition, kindUnsaved), nil)
	r.removed++
	r.log.Info("removed the deleted crawl", "crawl", name)
}

// removeFromHosts removes the crawl from some hosts, and reports whether they were the last.
func (r *Removals) removeFromHosts(name string, at *removal) (last bool, err error) {
	pre := table.Prefix(r.partition, kindHost)
	return r.walk(pre, &at.After, func(key, value []byte) error {
		of := string(key[len(pre):])
		h, err := decodeHost(of, value)
		if err != nil || h.wants(name) && h.written < at.Began { // an unreadable host is rebuilt
			_, err = r.hosts.host(of)
		}
		return err
	})
}

// removeFromTimes removes the crawl's URLs from the index of times, and reports whether they were
// the last.
func (r *Removals) removeFromTimes(name string, at *removal) (last bool, err error) {
	pre := table.Prefix(r.partition, kindRetry)
	return r.walk(pre, &at.After, func(key, _ []byte) error {
		id, ok := idAtEnd(key[min(len(pre)+8, len(key)):])
		if ok && id.crawl != name {
			return nil
		}
		u, err := r.urls.record(id)
		if err == nil && (u == nil || !u.Has(key)) { // otherwise it belongs to the next crawl of the name
			r.tx.Delete(bytes.Clone(key))
		}
		return err
	})
}
