package state

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
	"seine/pkg/stages/frontier/frontierapi"
)

// Dump returns what a store has of a partition, a line for each key, in order; of some
// kinds of keys only, if any are named. It leaves out times and the order of arrival, as
// another owner applies the same messages later: two owners that have the same state have
// the same lines.
func (s *Store) Dump(of int, kinds ...byte) (all []string, err error) {
	arrivals := make(map[string]int)
	err = s.scan(table.Partition(of), nil, func(key, value []byte) (bool, error) {
		kind, rest := key[2], key[3:]
		if len(kinds) > 0 && !slices.Contains(kinds, kind) {
			return true, nil
		}
		line, err := describeKey(kind, rest, value, arrivals)
		if line != "" {
			all = append(all, string(kind)+" "+line)
		}
		return err == nil, err
	})
	return all, err
}

func describeKey(kind byte, rest, value []byte, arrivals map[string]int) (string, error) {
	switch kind {
	case kindTime, kindRetry: // entries that were overtaken stay until they are due
		return "", nil
	case kindDue:
		return string(rest[8:]), nil
	case kindQueue:
		host, rest, err := table.CutName(rest)
		if err != nil {
			return "", err
		}
		_, pl, err := table.CutName(rest)
		arrivals[host]++
		return fmt.Sprintf("%s %d. %s", host, arrivals[host], hex.EncodeToString(append(pl[:3:3], pl[11:]...))), err
	case kindURL:
		r, err := decodeRecord(value)
		if err != nil {
			return "", err
		}
		r.Arrival, r.Due, r.Changed = 0, 0, 0
		for i := range r.History {
			r.History[i].At = 0
		}
		m := r.Metadata
		r.Metadata = nil
		return fmt.Sprintf("%+v %+v", *r, m), nil
	case kindHost:
		h, err := decodeHost(string(rest), value)
		if err != nil {
			return "", err
		}
		line := fmt.Sprintf("%s %q %+v", h.name, h.ip, h.stats)
		for _, w := range h.work {
			line += fmt.Sprintf(" %s: %d queued, %d pages, parked %v", w.crawl, w.queued, w.pages, w.parked)
		}
		return line, nil
	case kindCounters:
		var c crawlState
		err := jsontext.Unmarshal(value, &c)
		c.Started, c.Changed = 0, 0
		return fmt.Sprintf("%s=%+v", rest, c), err
	case kindRun:
		var r frontierapi.Run
		err := jsontext.Unmarshal(value, &r)
		r.Started, r.Last = time.Time{}, time.Time{}
		return fmt.Sprintf("%q=%+v", rest, r), err
	}
	return fmt.Sprintf("%q=%s", rest, value), nil
}
