package fetcher

import "sync/atomic"

// epochFence remembers the newest lease of a frontier seen in each partition. A
// request of an older one comes from a frontier that was frozen, lost its lease
// and does not know yet: its successor may have sent the same visit.
//
// This is the only place where the fetcher tells requests of older owners apart, but it does not
// refuse them by itself: process (handle.go) lets the host rest, and asks the frontier that owns the
// partition now (Bus.ClaimRequest). If that does not grant the request, process drops it without
// a result.
type epochFence []atomic.Uint64

// outdated reports whether a newer epoch than this one has been seen. 0 stands
// for a frontier that does not say.
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
