package state

import (
	"encoding/binary"
	"fmt"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/base/tally"
	"seine/internal/frontier/table"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// runs manages the figures of the runs of crawls.
type runs struct {
	*base
	crawls *crawls
}

// runKey returns the key of the figures of a run. Keys sort the oldest run first.
func (rs *runs) runKey(crawl string, run int64) []byte {
	return binary.BigEndian.AppendUint64(table.Name(table.Prefix(rs.partition, kindRun), crawl), uint64(run))
}

// goesOn returns the figures of a run in which something happens, to be changed in this turn. It
// updates the time of the last event.
func (rs *runs) goesOn(name string, run, now int64) *frontierapi.Run {
	r := rs.figuresOf(name, run, now)
	r.Last = time.UnixMilli(max(rs.time.wallMS(now), r.Started.UnixMilli())).UTC()
	return r
}

// figuresOf returns the figures of a run, to be changed in this turn. It reads or creates them.
// Figures of a run older than all kept ones are not kept.
func (rs *runs) figuresOf(name string, run, now int64) *frontierapi.Run {
	c := rs.crawls.get(name)
	if r := c.runs[run]; r != nil {
		return r
	}
	if r := c.savedRun; r != nil && r.Run == run {
		c.runs[run], c.dirty = r, true
		return r
	}
	keep := true
	r, err := rs.read(rs.runKey(name, run))
	if err == nil && r == nil {
		r = &frontierapi.Run{Run: run, Started: time.UnixMilli(rs.time.wallMS(now)).UTC()}
		if run == 0 && c.Run == 0 && c.Started != 0 {
			r.Started = time.UnixMilli(c.Started).UTC()
		}
		keep, err = rs.makeRoom(name, run)
	}
	if err != nil {
		rs.tx.Fail(err) // the turn fails, and with it the partition
		return &frontierapi.Run{Run: run}
	}
	if keep {
		c.runs[run], c.dirty = r, true
	}
	return r
}

// read returns the figures of a run, nil if there are none.
func (rs *runs) read(key []byte) (*frontierapi.Run, error) {
	val, err := rs.store.get(key)
	if err != nil {
		return nil, fmt.Errorf("read statistics of a run: %w", err)
	}
	if val == nil {
		return nil, nil
	}
	r := new(frontierapi.Run)
	if err := jsontext.Unmarshal(val, r); err != nil {
		rs.reportRepair(repairCounters, "the statistics of a run cannot be read; they start again at zero", "key", key, "error", err)
		return nil, rs.setAside(key)
	}
	return r, nil
}

// makeRoom deletes the oldest runs to make room for another, and reports whether the new run is to
// be kept. It is not if it is older than all kept runs.
func (rs *runs) makeRoom(name string, run int64) (keep bool, err error) {
	c := rs.crawls.get(name)
	c.savedRun = nil // it may be deleted below
	pre := table.Name(table.Prefix(rs.partition, kindRun), name)
	var kept []int64
	err = rs.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		if len(key) == len(pre)+8 {
			kept = append(kept, int64(binary.BigEndian.Uint64(key[len(pre):])))
		}
		return true, nil
	})
	if len(kept) >= frontierapi.MaxRuns && run < kept[0] {
		return false, err
	}
	for i := 0; i <= len(kept)-frontierapi.MaxRuns; i++ {
		rs.tx.Delete(rs.runKey(name, kept[i]))
		delete(c.runs, kept[i])
	}
	return true, err
}

// save writes the figures changed in this turn.
func (rs *runs) save(name string, c *crawl) {
	for run, r := range c.runs {
		rs.tx.SetJSON(rs.runKey(name, run), r)
		c.savedRun = r
	}
	clear(c.runs)
}

// newest returns the figures of the newest runs of a crawl, oldest first. It does not include
// changes of the current turn.
func (rs *runs) newest(name string, most int) (runs []frontierapi.Run, err error) {
	err = rs.store.scan(table.Name(table.Prefix(rs.partition, kindRun), name), nil, func(_, value []byte) (bool, error) {
		var r frontierapi.Run
		if jsontext.Unmarshal(value, &r) == nil { // unreadable figures are quarantined when they are loaded
			runs = append(runs, r)
		}
		return true, nil
	})
	return runs[max(0, len(runs)-most):], err
}

// countResult counts the result of a request. Call it before the result changes the URL.
func (rs *runs) countResult(req *Request, res *messages.Result, now int64) {
	n := new(frontierapi.Run)
	if req.Recrawl {
		rs.figuresOf(req.id.crawl, req.SentRun, now).Recrawls++
	} else {
		n = rs.goesOn(req.id.crawl, req.SentRun, now)
	}
	tally.Add(&n.Requests, res.Class, 1)
	n.BytesWire += res.BytesWire
	n.BytesBody += res.BytesBody
	digest := digestOf(res)
	count := func(of *int64, outcome string) {
		*of++
		visitsTotal.WithLabelValues(outcome).Inc()
	}
	if res.Class == messages.OK {
		n.Pages++
	}
	switch {
	case res.Class == messages.OK && !req.Fetched:
		count(&n.New, "new")
	case res.Class == messages.OK && (digest == 0 || digest != req.Digest):
		count(&n.Changed, "changed")
	case res.Class == messages.OK, res.Class == messages.NotModified:
		count(&n.Same, "same")
	case res.Class == messages.Gone && req.Fetched && !req.wasGone():
		count(&n.Gone, "gone")
	}
}

// countFailed counts a failed visit.
func (rs *runs) countFailed(r *urlRecord, id urlID, now int64) {
	visitsTotal.WithLabelValues("failed").Inc()
	if !r.Recrawl {
		rs.goesOn(id.crawl, r.SentRun, now).Failed++
	}
}

// countRecords counts the records of a page, reported with the end of its visit. Call it before the
// end is applied.
func (rs *runs) countRecords(r *urlRecord, id urlID, m *messages.Candidates, now int64) {
	if len(m.Records) == 0 {
		return
	}
	recrawl := r.Recrawl
	if m.Ends.Round > r.Round { // this state is older than the visit
		recrawl = r.recrawlIn(m.Ends.Round, m.Run)
	}
	n := new(frontierapi.Run)
	if !recrawl {
		n = rs.goesOn(id.crawl, m.Run, now)
	}
	for _, k := range m.Records {
		n.AddRecords(k.Kind, k.N)
		recordsTotal.add(k.Kind, k.N)
	}
}

// recrawling returns 1 if the URL's open visit belongs to no run, else 0.
func (r *urlRecord) recrawling() int64 {
	if r.Recrawl && r.Run <= r.SentRun && r.State != 0 && !r.State.ended() {
		return 1
	}
	return 0
}

// recrawlIn reports whether a visit of a round that this state does not know yet was planned by
// recrawl rules, because its run had the URL before.
func (r *urlRecord) recrawlIn(round uint64, run int64) bool {
	if run > r.SentRun {
		return false
	}
	return round == r.Round && r.Recrawl || round > r.Round && (r.State.ended() && r.Due != 0 || !r.State.ended() && r.Recrawl)
}

// sentInRun records that the URL is sent in the run that found it last. If that run is new, a visit
// planned by recrawl rules now belongs to it.
func (r *urlRecord) sentInRun() {
	r.Recrawl = r.Recrawl && r.Run <= r.SentRun
	r.SentRun = r.Run
}
