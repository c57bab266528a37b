package state

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// loadCrawls reads the crawls that continue, and begins the partition's time. Those that
// have ended are not even looked at, if a build has judged them all that judges as this
// one does.
func (s *Partition) loadCrawls(c *Clock) error {
	from, found, err := s.store.readMark(s.partition)
	switch {
	case errors.Is(err, errMark):
		s.reportRepair(repairTime, "the partition's time cannot be read; it continues from the last change", "error", err)
	case err != nil:
		return err
	}
	var changed int64
	s.judged, s.stored = from.Judged, from.Judged
	if found && s.judged.Build == buildPrint() {
		err = s.loadListed()
	} else {
		s.judged = judged{}
		changed, err = s.loadAll()
	}
	if err != nil {
		return err
	}
	if !found {
		from = markOf(changed, c)
	}
	s.time = startPartitionTime(c, from)
	return nil
}

// loadListed reads the crawls that are listed.
func (s *Partition) loadListed() error {
	pre := table.Prefix(s.partition, kindAwake)
	err := s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		name := string(key[len(pre):])
		c, err := s.readAwake(name, true)
		if err != nil {
			return false, err
		}
		if c.known() {
			s.crawls[name] = c
		} else {
			s.reportRepair(repairIndex, "a crawl that is not known is listed as one that has not ended", "crawl", name)
			s.tx.Delete(bytes.Clone(key))
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("read list of crawls: %w", err)
	}
	any := table.Prefix(s.partition, kindCounters)
	return s.store.scan(any, nil, func(_, _ []byte) (bool, error) {
		s.holdsCrawls = true
		return false, nil
	})
}

// loadAll reads all crawls, and lists those that continue. It returns when something last
// happened in any of them, Unix ms.
func (s *Partition) loadAll() (changed int64, err error) {
	s.tx.DeletePrefix(table.Prefix(s.partition, kindAwake))
	names, err := s.crawlNames()
	if err != nil {
		return 0, err
	}
	s.holdsCrawls = len(names) > 0
	for _, name := range names {
		state, err := s.readCrawl(name)
		if err != nil && !errors.Is(err, errCounters) {
			return 0, err
		}
		changed = max(changed, state.Changed)
		switch {
		case err != nil || !state.ended():
			c, err := s.readAwake(name, true)
			if err != nil {
				return 0, err
			}
			if c.Row = (table.Row{}); c.known() { // the list is empty now
				s.crawls[name] = c
				crawlTable.Put(s.tx.Turn, name, c)
			}
		case state.stale():
			s.markStale(name)
		}
	}
	return changed, nil
}

// crawlNames are those of all crawls that the store or the turn under way has.
func (s *Partition) crawlNames() (names []string, err error) {
	pre := table.Prefix(s.partition, kindCounters)
	err = s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		if name := string(key[len(pre):]); s.crawls[name] == nil && !s.gone[name] {
			names = append(names, name)
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read names of crawls: %w", err)
	}
	for name := range s.crawls {
		names = append(names, name)
	}
	return names, nil
}

// awake are the crawls in which something is to happen, as many as an answer holds.
func (s *Partition) awake() *frontierapi.AwakeCrawls {
	names := slices.Collect(maps.Keys(s.postponed))
	for name, c := range s.crawls {
		if c.known() && (!c.ended() || c.working()) && s.postponed[name] == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	all := &frontierapi.AwakeCrawls{Names: names}
	size := 0
	for i, name := range names {
		if size += len(name) + len(`"",`); size > maxAwakeBytes {
			all.Names, all.Partial = names[:i], true
			break
		}
	}
	return all
}

// readCrawl reads the state of a crawl.
func (s *Partition) readCrawl(name string) (state crawlState, err error) {
	if s.gone[name] {
		return state, nil
	}
	c, found, err := crawlTable.Load(s.tx.Turn, name)
	if err != nil {
		return state, fmt.Errorf("read counters of crawl %s: %w", name, err)
	}
	if found {
		state = c.crawlState
	}
	return state, nil
}
