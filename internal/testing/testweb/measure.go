package testweb

import (
	"slices"
	"time"
)

// MinGap returns the shortest time from the end of one request to the start of the next. It is
// negative if requests overlap, and 0 for fewer than two requests, which prove nothing.
func MinGap(requests []Request) time.Duration {
	return minGap(requests, func(r Request) time.Time { return r.End })
}

// MinStartGap returns the shortest time from the start of one request to the start of the next; 0
// for fewer than two.
func MinStartGap(requests []Request) time.Duration {
	return minGap(requests, func(r Request) time.Time { return r.At })
}

// minGap returns the shortest time from the latest mark so far to the next start.
func minGap(requests []Request, mark func(Request) time.Time) time.Duration {
	if len(requests) < 2 {
		return 0
	}
	ordered := closed(requests)
	latest := mark(ordered[0])
	smallest := ordered[1].At.Sub(latest)
	for _, r := range ordered[1:] {
		smallest = min(smallest, r.At.Sub(latest))
		if m := mark(r); m.After(latest) {
			latest = m
		}
	}
	return smallest
}

// MaxConcurrent returns the largest number of requests in flight at a time. A request that starts
// at the very moment another one ends does not overlap it.
func MaxConcurrent(requests []Request) int {
	most := 0
	var active []time.Time // end times of in-flight requests
	for _, r := range closed(requests) {
		active = slices.DeleteFunc(active, func(end time.Time) bool { return !end.After(r.At) })
		active = append(active, r.End)
		most = max(most, len(active))
	}
	return most
}

// closed returns the requests ordered by start. In-flight requests get an end time after all known
// times.
func closed(requests []Request) []Request {
	ordered := slices.Clone(requests)
	slices.SortStableFunc(ordered, func(a, b Request) int { return a.At.Compare(b.At) })
	var latest time.Time
	for _, r := range ordered {
		latest = later(latest, later(r.At, r.End))
	}
	for i := range ordered {
		if ordered[i].End.IsZero() {
			ordered[i].End = latest.Add(1)
		}
	}
	return ordered
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
