package state

import (
	"math"
	"time"

	"seine/pkg/crawlspec"
)

// Budget is what all partitions together have been granted of what a crawl may take in
// all, max_pages, max_bytes and max_duration: see frontier.budgets.
type Budget struct {
	StartedMS int64            `json:"started_ms"` // of the first request for a grant
	Pages     map[string]int64 `json:"pages,omitempty"`
	Bytes     map[string]int64 `json:"bytes,omitempty"`
}

// Usage is what a partition has used, requests in flight included.
type Usage struct{ Pages, Bytes int64 }

// Grant is what a partition may take of the budgets of a crawl.
type Grant struct {
	Pages   int64 // that the partition may have fetched in all
	Bytes   int64 // the same of bytes
	Started int64 // when the crawl began anywhere, Unix ns; 0 if that is unknown
	Over    bool  // there was no more, for any partition
}

// leastBytes is the smallest grant of bytes: about a page.
const leastBytes = 64 << 10

// Allot changes what a partition is granted, and returns it.
func (d *Budget) Allot(p string, used Usage, more bool, partitions int, spec *crawlspec.Spec) Grant {
	g := Grant{Started: d.StartedMS * int64(time.Millisecond)}
	share := func(grants *map[string]int64, limit, used, least int64) int64 {
		if limit == 0 {
			return 0
		}
		if *grants == nil {
			*grants = make(map[string]int64)
		}
		(*grants)[p] = used // the rest is free for all
		left := limit
		for _, n := range *grants {
			left -= n
		}
		if more {
			extra := budgetShare(left, partitions, least)
			(*grants)[p] += extra
			g.Over = g.Over || extra == 0
		}
		// A limit that was lowered may be exceeded by what is in progress: what
		// of that turns out to be no page is not to be sent again.
		return (*grants)[p] + min(left, 0)
	}
	g.Pages = share(&d.Pages, spec.MaxPages, used.Pages, 1)
	g.Bytes = share(&d.Bytes, int64(spec.MaxBytes), used.Bytes, leastBytes)
	return g
}

// budgetShare is how much of what is left a partition gets at once: enough to
// ask seldom, little enough that the last pages are not held by one that has
// no use for them.
func budgetShare(left int64, partitions int, least int64) int64 {
	if left <= 0 {
		return 0
	}
	if partitions == 1 {
		return left
	}
	return min(left, max(least, int64(math.Ceil(float64(left)/float64(2*partitions)))))
}
