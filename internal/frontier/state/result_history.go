package state

import (
	"time"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Recent results are kept in memory, for status: a frontier that
// starts again knows nothing of it.

// resultRing are the last answers of a host. There is one for each host in memory,
// so it has what a line needs and no more.
type resultRing struct {
	ring [4]resultEntry
	n    uint8 // how many there were, at most twice the ring
}

type resultEntry struct {
	at     int64 // end, Unix ms
	took   int32 // ms
	status int16
	class  uint8 // place in shortClasses
}

// shortClasses gives each class a number that is good for this process.
var shortClasses = messages.Classes()

// add records how a request ended.
func (a *resultRing) add(res *messages.Result) {
	class := uint8(0)
	for i, c := range shortClasses {
		if c == res.Class {
			class = uint8(i)
		}
	}
	took := time.Duration(res.Timings.Total)
	a.ring[int(a.n)%len(a.ring)] = resultEntry{
		at: endOfResult(res), took: int32(min(took.Milliseconds(), 1<<31-1)), status: int16(res.Status), class: class,
	}
	if a.n++; int(a.n) == 2*len(a.ring) {
		a.n = uint8(len(a.ring))
	}
}

// attempts returns them, the oldest first.
func (a *resultRing) attempts() (all []frontierapi.Attempt) {
	for i := max(0, int(a.n)-len(a.ring)); i < int(a.n); i++ {
		x := a.ring[i%len(a.ring)]
		all = append(all, frontierapi.Attempt{AtMS: x.at, Class: shortClasses[x.class], Status: int(x.status), TookMS: int64(x.took)})
	}
	return all
}

func endOfResult(res *messages.Result) int64 {
	return res.Started.Add(time.Duration(res.Timings.Total)).UnixMilli()
}

// failureRing are the last ones of a partition.
type failureRing struct {
	ring [32]frontierapi.RequestFailure
	n    int
}

// add records a request that failed.
func (t *failureRing) add(res *messages.Result) {
	if effects[res.Class].quiet {
		return
	}
	t.ring[t.n%len(t.ring)] = frontierapi.RequestFailure{
		AtMS: endOfResult(res), Crawl: res.Crawl, URL: res.URL, Class: res.Class, Status: res.Status, Error: res.Error, Attempt: res.Attempt,
	}
	t.n++
}

// newest returns at most so many, of a crawl or of all, the newest first.
func (t *failureRing) newest(crawl string, most int) (all []frontierapi.RequestFailure) {
	for i := t.n - 1; i >= max(0, t.n-len(t.ring)) && len(all) < most; i-- {
		if x := t.ring[i%len(t.ring)]; crawl == "" || x.Crawl == crawl {
			all = append(all, x)
		}
	}
	return all
}
