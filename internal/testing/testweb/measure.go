package testweb

import (
	"slices"
	"time"
)

// MinGap is the smallest time from the end of one request to the start of the next. It is negative where two overlap,
// and 0, since nothing is proven, with fewer than two requests.
func MinGap(requests []Request) time.Duration {
	return minGap(requests, func(r Request) time.Time { return r.End })
}

// MinStartGap is the smallest time from the start of one request to the start of the next; 0 with fewer than two.
func MinStartGap(requests []Request) time.Duration {
	return minGap(requests, func(r Request) time.Time { return r.At })
}

// minGap is the smallest time from the latest mark so far to the next start.
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

// MaxConcurrent is the largest number of requests under way at one moment. One that starts in the very moment another
// ends does not overlap it.
func MaxConcurrent(requests []Request) int {
	most := 0
	var active []time.Time // ends of the requests under way
	for _, r := range closed(requests) {
		active = slices.DeleteFunc(active, func(end time.Time) bool { return !end.After(r.At) })
		active = append(active, r.End)
		most = max(most, len(active))
	}
	return most
}

// closed returns the requests by start. One still under way is given an end after everything else that is known.
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
