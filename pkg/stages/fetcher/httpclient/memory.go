package httpclient

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// memoryLimiter bounds what bodies take together from when they are read until their
// pages are stored. Half of it is shared out among the workers beforehand, so an
// ordinary page never waits. A body that outgrows its share takes all it may
// still need from the other half in one step: a reader that waits for that holds nothing of
// it, so there is no deadlock.
type memoryLimiter struct {
	share int64 // of each worker
	pool  int64 // for the rest
	sem   *semaphore.Weighted
}

// maxShare is what a worker gets beforehand at most; nine pages in ten are far
// smaller.
const maxShare = 1 << 20

func newMemoryLimiter(total int64, workers int) *memoryLimiter {
	share := min(maxShare, total/2/int64(workers))
	pool := total - share*int64(workers)
	return &memoryLimiter{share: share, pool: pool, sem: semaphore.NewWeighted(pool)}
}

// memoryReservation is what one body has of the memory.
type memoryReservation struct {
	m     *memoryLimiter
	extra int64 // taken from the pool
}

func (m *memoryLimiter) lend() memoryReservation {
	bodyMemory.Add(float64(m.share))
	return memoryReservation{m: m}
}

// covers reports whether a body of size bytes needs nothing more.
func (r *memoryReservation) covers(size int64) bool { return size <= r.m.share || r.extra > 0 }

// extend waits for enough for a body of most bytes. One larger than the whole
// pool is read while no other is.
func (r *memoryReservation) extend(ctx context.Context, most int64) error {
	extra := min(most, r.m.pool)
	if err := Timed(waitMemory, func() error { return r.m.sem.Acquire(ctx, extra) }); err != nil {
		return err
	}
	r.extra = extra
	bodyMemory.Add(float64(extra))
	return nil
}

// room returns how much there may be in memory of one body, where size bytes are wanted. It does not wait for more.
func (r *memoryReservation) room(size int64) int64 {
	if !r.covers(size) && r.m.sem.TryAcquire(streamMemory) {
		r.extra = streamMemory
		bodyMemory.Add(streamMemory)
	}
	return r.m.share + r.extra
}

// shrink gives back what is not needed once the body has become so small, by
// compression, or since it is stored.
func (r *memoryReservation) shrink(size int) {
	if r.extra == 0 {
		return
	}
	if over := r.extra - max(0, int64(size)-r.m.share); over > 0 {
		r.extra -= over
		bodyMemory.Sub(float64(over))
		r.m.sem.Release(over)
	}
}

// release gives everything back. It may be called again.
func (r *memoryReservation) release() {
	if r.m == nil {
		return
	}
	bodyMemory.Sub(float64(r.m.share + r.extra))
	if r.extra > 0 {
		r.m.sem.Release(r.extra)
	}
	r.m = nil
}
