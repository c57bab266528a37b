package state

import (
	"bytes"
	"fmt"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
)

// Removals remove deleted crawls. Keys that begin with the name of the crawl are deleted at once, in the turn in
// which the deletion is found, and the next crawl of the name begins with the turn after. What hosts, domains and the
// index of times have of it goes step by step, beside the work of that crawl.
type Removals struct {
	*core
	requests *Requests
	removed  int // deleted crawls that were forgotten, and may be in the last snapshot
}

// removal is how far hosts, domains and the index of times have forgotten a crawl.
type removal struct {
	// Began is when, in the partition's time: hosts and domains that were written before may name the crawl. No two are the same.
	Began uint64 `json:"began"`
	Hosts bool   `json:"hosts,omitempty"` // the hosts are done
	After []byte `json:"after,omitempty"` // the last key done of the hosts, or of the times
}

// lastRemoval is for a crawl in the key of the removal that began last: no other begins at the same time or before.
const lastRemoval = ""

// removedAtOnce are the kinds whose keys begin with the name of the crawl.
var removedAtOnce = []byte{
	kindURL, kindFailed, kindInFlight, kindSeed, kindOrder, kindOpened, kindOpening, kindBarred, kindLinks, kindUnchanged, kindRun, kindInherited,
}

func (r *Removals) key(crawl string) []byte {
	return append(table.Prefix(r.partition, kindRemoval), crawl...)
}

// load reads which removals are in progress, and whether a snapshot was still to be made when the store was closed, of a
// state from which a crawl was removed.
func (r *Removals) load() error {
	pre := table.Prefix(r.partition, kindRemoval)
	err := r.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		at := &removal{}
		if err := jsontext.Unmarshal(value, at); err != nil { // what is left is found when it is its turn
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

// Begin forgets what is known of a crawl if that is of a deleted one, as of a revision of its spec. It reports whether the
// turn must be committed before a message of the crawl is applied: until then the store shows what was forgotten.
func (r *Removals) Begin(name string, rev uint64, now int64) (commit bool, err error) {
	rules, err := r.crawls.rules(name, rev)
	if err == nil {
		err = r.begin(name, rules, now)
	}
	return r.tx.gone[name], err
}

// beginAll is Begin for all crawls that are awake.
func (r *Removals) beginAll(now int64) error {
	for name := range r.crawls.active {
		if _, err := r.Begin(name, 0, now); err != nil {
			return err
		}
	}
	return nil
}

// begin ends what is in progress for a crawl that was deleted, and leaves a new one in its place, of which nothing is known.
func (r *Removals) begin(name string, rules *Rules, now int64) error {
	c := r.crawls.get(name)
	if !c.known() || c.Since >= rules.Since() {
		return nil
	}
	for id, req := range r.urls.inFlight {
		if id.crawl != name {
			continue
		}
		if err := r.requests.pacer.abandon(req.host, req.ip, req.id, req.Sent, rules, now); err != nil { // a fetcher may be at it
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

// proceed forgets a part of each crawl that is being removed.
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
	r.log.Info("deleted crawl is forgotten", "crawl", name)
}

// removeFromHosts has some hosts forget the crawl, and reports whether they were the last.
func (r *Removals) removeFromHosts(name string, at *removal) (last bool, err error) {
	pre := table.Prefix(r.partition, kindHost)
	return r.walk(pre, &at.After, func(key, value []byte) error {
		of := string(key[len(pre):])
		h, err := decodeHost(of, value)
		if err != nil || h.wants(name) && h.written < at.Began { // or it is made again
			_, err = r.hosts.host(of)
		}
		return err
	})
}

// removeFromTimes takes the crawl's URLs out of the index of those that wait, and
// reports whether that was all.
func (r *Removals) removeFromTimes(name string, at *removal) (last bool, err error) {
	pre := table.Prefix(r.partition, kindRetry)
	return r.walk(pre, &at.After, func(key, _ []byte) error {
		id, ok := idAtEnd(key[min(len(pre)+8, len(key)):])
		if ok && id.crawl != name {
			return nil
		}
		u, err := r.urls.record(id)
		if err == nil && (u == nil || !u.Has(key)) { // or it is of the next crawl of the name
			r.tx.Delete(bytes.Clone(key))
		}
		return err
	})
}
