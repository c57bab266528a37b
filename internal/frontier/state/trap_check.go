package state

import (
	"seine/internal/frontier/table"
	"seine/internal/schedule/traps"
	"seine/pkg/messages"
)

// trapReason applies the guards that compare a new URL with earlier ones. Seeds are exempt from all
// guards.
func (s *scope) trapReason(r *urlRecord, id urlID, rules *Rules) (string, error) {
	if r.Seed {
		return "", nil
	}
	if rules.traps.MaxParameterSets > 0 {
		if known, err := s.paramOrderSeen(r, id); err != nil || known {
			return string(traps.ParameterOrder), err
		}
	}
	return string(s.crawls.get(id.crawl).shapes.Admit(r.URL, &rules.traps)), nil
}

// unjudged reports whether the guards that compare a new URL with earlier ones must evaluate the
// URL. It is new, or they have excluded it so far, so that it is not among those they compare with.
func (r *urlRecord) unjudged() bool {
	return r.State == 0 || r.State == Excluded && r.lastVisit.empty() && traps.Reason(r.Reason).Compares()
}

// paramOrderSeen reports whether a URL is known with its parameters in another order, and remembers
// this order. A URL with sorted parameters is known by its record; any other order by a mark.
func (s *scope) paramOrderSeen(r *urlRecord, id urlID) (bool, error) {
	sorted, others := traps.SortQuery(r.URL)
	if !others {
		return false, nil
	}
	c, mark := s.crawls.get(id.crawl), orderMark(sorted)
	if known, err := s.marked(id.crawl, mark); err != nil || known {
		return known, err
	}
	if sorted == r.URL {
		return false, nil
	}
	twin := urlID{id.crawl, messages.HashURL(sorted)}
	if c.seen.has(twin.hash) {
		if t, err := s.urls.record(twin); err != nil || t != nil {
			return t != nil, err
		}
	}
	c.seen.add(mark)
	c.marks[mark] = true
	r.Ordered = true
	return false, nil
}

// orderMark returns the identity of all unsorted orders of a URL's parameters. No URL has this
// hash, as none ends with an empty fragment.
func orderMark(sorted string) messages.URLHash { return messages.HashURL(sorted + "#") }

func (s *scope) marked(crawl string, mark messages.URLHash) (bool, error) {
	c := s.crawls.get(crawl)
	if c.marks[mark] {
		return true, nil
	}
	if !c.seen.has(mark) {
		return false, nil
	}
	return s.store.has(s.orderKey(crawl, mark))
}

// trapAtDispatch returns why a queued URL is no longer worth a request: an endless site fills the
// queue before its pages reveal that.
func (s *scope) trapAtDispatch(r *urlRecord, id urlID, rules *Rules) string {
	if r.Seed || r.Round > messages.FirstRoundOf(r.Round) {
		return ""
	}
	return string(s.crawls.get(id.crawl).shapes.Exhausted(r.URL, &rules.traps))
}

func (s *scope) orderKey(crawl string, mark messages.URLHash) []byte {
	return append(table.Name(table.Prefix(s.partition, kindOrder), crawl), mark[:]...)
}
