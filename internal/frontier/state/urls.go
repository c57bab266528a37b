package state

import (
	"errors"

	"seine/internal/frontier/table"
	"seine/pkg/stages/frontier/frontierapi"
)

// urls manages the records of URLs and the effects of their state changes.
type urls struct {
	*base
	crawls    *crawls
	runs      *runs
	inFlight  map[urlID]*Request
	nextRetry int64 // lower bound of the retry index
	parsingAt int64 // time of the last CountParsing
}

// record returns the record of a URL, nil if it is unknown.
func (us *urls) record(id urlID) (*urlRecord, error) {
	if req := us.inFlight[id]; req != nil {
		return req.urlRecord, nil
	}
	r, err := us.tx.load(id)
	if errors.Is(err, errRecord) {
		return nil, us.unreadable(id, err)
	}
	return r, err
}

// unreadable quarantines a URL record that cannot be read. The URL is unknown then.
func (us *urls) unreadable(id urlID, err error) error {
	us.tx.records[id] = nil
	for _, index := range []byte{kindFailed, kindSeed, kindInFlight} {
		us.tx.Delete(urlTable.Key(table.Prefix(us.partition, index), id))
	}
	us.reportRepair(repairURL, "the record of a URL cannot be read, it is set aside", "crawl", id.crawl, "url_hash", id.hash, "error", err)
	us.audit(id.crawl)
	return us.setAside(urlTable.At(us.partition, id))
}

// setState applies an event to the state of a URL, and updates the counters.
func (us *urls) setState(r *urlRecord, id urlID, event urlEvent, reason string, now int64) {
	us.check(r, id, &urlLife[event])
	to := urlLife[event].to
	c := us.crawls.get(id.crawl)
	c.tally(id.hash, func(n *frontierapi.Counters) { countRecord(n, r, -1) })
	forgetExample(&c.Examples, r)
	if r.State == Parsing && r.Due <= us.parsingAt {
		c.unparsed--
	}
	r.State, r.Reason, r.Changed = to, reason, us.time.wallMS(now)
	c.tally(id.hash, func(n *frontierapi.Counters) { countRecord(n, r, 1) })
	addExample(&c.Examples, r)
	if r.barred() {
		us.noteBarred(c, id.crawl, r.URL)
	}
	c.Changed = r.Changed
	if c.Started == 0 {
		c.Started = r.Changed
	}
	if to == Failed {
		us.runs.countFailed(r, id, now)
	}
	c.dirty = true
	us.tx.save(id, r)
}

// foundBy records that a run has found a URL.
func (us *urls) foundBy(r *urlRecord, id urlID, run int64) {
	was := r.recrawling()
	r.Run = max(r.Run, run)
	us.countRecrawling(id, r.recrawling()-was)
}

// planAt plans the next visit of a URL.
func (us *urls) planAt(r *urlRecord, id urlID, at int64) {
	r.Due = at + jitter(id, int(r.Round), r.Interval/16)
	us.count(id, func(n *frontierapi.Counters) { n.Planned++ })
}

// unplan cancels the next visit.
func (us *urls) unplan(r *urlRecord, id urlID) {
	if r.State.ended() && r.Due != 0 {
		r.Due = 0
		us.count(id, func(n *frontierapi.Counters) { n.Planned-- })
	}
}

func (us *urls) countRecrawling(id urlID, by int64) {
	if by != 0 {
		us.count(id, func(n *frontierapi.Counters) { n.Recrawling += by })
	}
}

// count changes the counters of a crawl for a URL.
func (us *urls) count(id urlID, by func(*frontierapi.Counters)) {
	c := us.crawls.get(id.crawl)
	c.tally(id.hash, by)
	c.dirty = true
}
