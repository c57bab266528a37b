package state

import (
	"math"
	"time"

	"seine/pkg/crawlspec"
)

// Budget holds the shares of a crawl's limits max_pages, max_bytes and max_duration that all
// partitions have been granted: see frontier.budgets.
type Budget struct {
	StartedMS int64            `json:"started_ms"` // time of the first request for a grant
	Pages     map[string]int64 `json:"pages,omitempty"`
	Bytes     map[string]int64 `json:"bytes,omitempty"`
}

// Usage is what a partition has used, including requests in flight.
type Usage struct{ Pages, Bytes int64 }

// Grant is a partition's share of the budgets of a crawl.
type Grant struct {
	Pages   int64 // total pages that the partition may fetch
	Bytes   int64 // total bytes that the partition may fetch
	Started int64 // when the crawl began in any partition, Unix ns; 0 if unknown
	Over    bool  // no budget is left, for any partition
}

// leastBytes is the smallest grant of bytes: about a page.
const leastBytes = 64 << 10

// Allot updates the grant of a partition and returns it.
func (d *Budget) Allot(p string, used Usage, more bool, partitions int, spec *crawlspec.Spec) Grant {
	g := Grant{Started: d.StartedMS * int64(time.Millisecond)}
	share := func(grants *map[string]int64, limit, used, least int64) int64 {
		if limit == 0 {
			return 0
		}
		if *grants == nil {
			*grants = make(map[string]int64)
		}
		(*grants)[p] = used // the rest is available to all
		left := limit
		for _, n := range *grants {
			left -= n
		}
		if more {
			extra := budgetShare(left, partitions, least)
			(*grants)[p] += extra
			g.Over = g.Over || extra == 0
		}
		// In-flight requests may exceed a limit that was lowered. If one of them yields no page,
		// the request is not replaced.
		return (*grants)[p] + min(left, 0)
	}
	g.Pages = share(&d.Pages, spec.MaxPages, used.Pages, 1)
	g.Bytes = share(&d.Bytes, int64(spec.MaxBytes), used.Bytes, leastBytes)
	return g
}

// budgetShare returns how much of the remaining budget a partition gets at once. The share is large
// enough to keep requests rare, and small enough that no idle partition holds the last pages.
func budgetShare(left int64, partitions int, least int64) int64 {
	if left <= 0 {
		return 0
	}
	if partitions == 1 {
		return left
	}
	return min(left, max(least, int64(math.Ceil(float64(left)/float64(2*partitions)))))
}
