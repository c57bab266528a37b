package state

import "slices"

// urlEvent is an event that changes the state of a URL.
type urlEvent uint8

// Events of a URL: urlLife describes them.
const (
	urlQueued urlEvent = iota
	urlExcluded
	urlSent
	urlAdopted
	urlRetried
	urlFetched
	urlDone
	urlFailed
)

// transition is the effect of an event on a URL in one of the states from, 0 before the first
// event.
type transition struct {
	event string
	from  []State
	to    State
}

// urlLife lists all transitions of URLs. The table in README.md is generated from it.
var urlLife = [...]transition{
	urlQueued:   {"queued: it is new or due again, and no rule excludes it", []State{0, InFlight, Waiting, Parsing, Done, Failed, Excluded}, Queued},
	urlExcluded: {"excluded by a rule, a guard, robots.txt or its content type", []State{0, Queued, InFlight, Waiting, Parsing, Done, Failed, Excluded}, Excluded},
	urlSent:     {"sent to a fetcher", []State{Queued}, InFlight},
	urlAdopted:  {"adopted: a former owner of the partition sent it", []State{Queued, InFlight, Waiting, Parsing, Done, Failed, Excluded}, InFlight},
	urlRetried:  {"the attempt failed, another one follows", []State{InFlight}, Waiting},
	urlFetched:  {"fetched: its page goes to a parser", []State{InFlight}, Parsing},
	urlDone:     {"parsed, or without a page: a redirect, or unchanged", []State{InFlight, Parsing}, Done},
	urlFailed:   {"the last attempt failed, its host was abandoned, or its page cannot be parsed", []State{Queued, InFlight, Parsing}, Failed},
}

// check reports a transition that urlLife lacks: the record contradicts the rest of the store.
func (us *urls) check(r *urlRecord, id urlID, t *transition) {
	if slices.Contains(t.from, r.State) {
		return
	}
	us.reportRepair(repairURL, "a URL has a state that the event cannot follow", "crawl", id.crawl, "url", r.URL, "state", r.State.String(), "event", t.event)
	us.audit(id.crawl)
}
