package fetcher

import "sync/atomic"

// epochFence holds the newest lease epoch seen in each partition. A request of an older epoch comes
// from a frontier that was frozen and does not know yet that it lost its lease: its successor may
// have sent the same visit.
//
// This is the only place where the fetcher detects requests of older owners. The fence does not
// refuse them: process (handle.go) waits for the host's delay, and claims the request from the
// frontier that owns the partition now (Bus.ClaimRequest). If that does not grant it, process drops
// the request without a result.
type epochFence []atomic.Uint64

// outdated reports whether a newer epoch than this one has been seen. 0 means that the frontier
// reported none.
func (e epochFence) outdated(partition int, epoch uint64) bool {
	newest := &e[partition]
	for seen := newest.Load(); epoch != 0; seen = newest.Load() {
		if epoch < seen {
			return true
		}
		if newest.CompareAndSwap(seen, epoch) {
			break
		}
	}
	return false
}
