package state

import (
	"bytes"
	"errors"
	"fmt"

	"seine/internal/frontier/table"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// open reads the crawls that have not ended, and starts the partition's time. It skips ended crawls
// if the last evaluating build is equivalent to this one.
func (cs *crawls) open(c *Clock) error {
	from, found, err := cs.store.readMark(cs.partition)
	switch {
	case errors.Is(err, errMark):
		cs.reportRepair(repairTime, "the partition's time cannot be read; it continues from the last change", "error", err)
	case err != nil:
		return err
	}
	var changed int64
	cs.progress, cs.storedProgress = from.Judged, from.Judged
	if found && cs.progress.Build == buildPrint() {
		err = cs.loadListed()
	} else {
		cs.progress = specProgress{}
		changed, err = cs.loadAll()
	}
	if err != nil {
		return err
	}
	if !found {
		from = markOf(changed, c)
	}
	cs.time = startPartitionTime(c, from)
	return nil
}

// loadListed reads the listed crawls.
func (cs *crawls) loadListed() error {
	pre := table.Prefix(cs.partition, kindAwake)
	err := cs.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		name := string(key[len(pre):])
		c, err := cs.readAwake(name, true)
		if err != nil {
			return false, err
		}
		if c.known() {
			cs.active[name] = c
		} else {
			cs.reportRepair(repairIndex, "a crawl that is not known is listed as one that has not ended", "crawl", name)
			cs.tx.Delete(bytes.Clone(key))
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("read list of crawls: %w", err)
	}
	any := table.Prefix(cs.partition, kindCounters)
	return cs.store.scan(any, nil, func(_, _ []byte) (bool, error) {
		cs.holdsCrawls = true
		return false, nil
	})
}

// loadAll reads all crawls, and lists those that have not ended. It returns when something last
// happened in any of them, Unix ms.
func (cs *crawls) loadAll() (changed int64, err error) {
	cs.tx.DeletePrefix(table.Prefix(cs.partition, kindAwake))
	names, err := cs.names()
	if err != nil {
		return 0, err
	}
	cs.holdsCrawls = len(names) > 0
	for _, name := range names {
		state, err := cs.read(name)
		if err != nil && !errors.Is(err, errCounters) {
			return 0, err
		}
		changed = max(changed, state.Changed)
		switch {
		case err != nil || !state.ended():
			c, err := cs.readAwake(name, true)
			if err != nil {
				return 0, err
			}
			if c.Row = (table.Row{}); c.known() { // the list is empty now
				cs.active[name] = c
				crawlTable.Put(cs.tx.Turn, name, c)
			}
		case state.stale():
			cs.stale[name] = true
		}
	}
	return changed, nil
}

// load reads a dormant crawl without the filter of its URLs.
func (cs *crawls) load(name string) (*crawl, error) {
	delete(cs.stale, name)
	c, err := cs.readAwake(name, false)
	cs.active[name] = c
	cs.holdsCrawls = true
	return c, err
}

// readAwake reads an active crawl, which must be listed if it has not ended. It rebuilds unreadable
// counters.
func (cs *crawls) readAwake(name string, listed bool) (*crawl, error) {
	c := newCrawl(name)
	state, err := cs.read(name)
	switch {
	case errors.Is(err, errCounters):
		err = cs.unreadableCounters(name, c, err)
		state = c.crawlState
	case err == nil && !listed && state.known() && !state.ended():
		cs.reportRepair(repairIndex, "a crawl has not ended and was forgotten", "crawl", name)
		c.dirty = true
	}
	if err == nil && state.known() {
		c.begin(name, state)
	}
	if listed {
		crawlTable.Stored(cs.tx.Turn, name, c)
	}
	return c, err
}

// unreadableCounters rebuilds the state of a crawl whose counters cannot be read. The rounds of its
// URLs show whether the crawl began after the last deletion of its name.
func (cs *crawls) unreadableCounters(name string, c *crawl, cause error) error {
	cs.reportRepair(repairCounters, "the counters of a crawl cannot be read; they are rebuilt", "crawl", name, "error", cause)
	c.crawlState = crawlState{}
	c.Started, c.Opening, c.Unchanged = 1, true, true
	c.Review, c.dirty = &sweep{Count: &frontierapi.Counters{}}, true
	rules, err := cs.specs.Rules(name, 0)
	if err != nil || rules.Deletion == nil {
		return err
	}
	return cs.store.scan(table.Name(table.Prefix(cs.partition, kindURL), name), nil, func(_, value []byte) (bool, error) {
		r, err := decodeRecord(value)
		if err == nil && messages.FirstRound(0, messages.Deletions(r.Round)) == messages.FirstRound(0, rules.Deletions()) {
			c.Since = rules.Since()
		}
		return err != nil, nil
	})
}
