package state

import (
	"slices"
	"time"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Recent results are kept in memory only, for status: they are empty after a restart.

// appendLast appends x and keeps the last most elements.
func appendLast[T any](all []T, x T, most int) []T {
	if len(all) >= most {
		all = append(all[:0], all[len(all)-most+1:]...)
	}
	return append(all, x)
}

// recentResults are the last results of a host, oldest first. Every host in memory has some, so an
// entry is small.
type recentResults []resultEntry

type resultEntry struct {
	at     int64 // end, Unix ms
	took   int32 // ms
	status int16
	class  uint8 // index in shortClasses
}

// maxRecentResults limits the results kept for a host, maxRecentFailures the failures kept for a
// partition.
const maxRecentResults, maxRecentFailures = 4, 32

// shortClasses gives each class a number that is valid in this process.
var shortClasses = messages.Classes()

// add records the result of a request.
func (a *recentResults) add(res *messages.Result) {
	took := time.Duration(res.Timings.Total)
	*a = appendLast(*a, resultEntry{
		at: endOfResult(res), took: int32(min(took.Milliseconds(), 1<<31-1)), status: int16(res.Status),
		class: uint8(max(0, slices.Index(shortClasses, res.Class))),
	}, maxRecentResults)
}

// attempts returns the results, oldest first.
func (a recentResults) attempts() (all []frontierapi.Attempt) {
	for _, x := range a {
		all = append(all, frontierapi.Attempt{AtMS: x.at, Class: shortClasses[x.class], Status: int(x.status), TookMS: int64(x.took)})
	}
	return all
}

func endOfResult(res *messages.Result) int64 {
	return res.Started.Add(time.Duration(res.Timings.Total)).UnixMilli()
}

// recentFailures are the last failures of a partition, oldest first.
type recentFailures []frontierapi.RequestFailure

// add records a failed request.
func (f *recentFailures) add(res *messages.Result) {
	if effects[res.Class].quiet {
		return
	}
	*f = appendLast(*f, frontierapi.RequestFailure{
		AtMS: endOfResult(res), Crawl: res.Crawl, URL: res.URL, Class: res.Class, Status: res.Status, Error: res.Error, Attempt: res.Attempt,
	}, maxRecentFailures)
}

// newest returns at most so many failures, of a crawl or of all, newest first.
func (f recentFailures) newest(crawl string, most int) (all []frontierapi.RequestFailure) {
	for _, x := range slices.Backward(f) {
		if len(all) < most && (crawl == "" || x.Crawl == crawl) {
			all = append(all, x)
		}
	}
	return all
}
