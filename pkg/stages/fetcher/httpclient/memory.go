package httpclient

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// memoryLimiter bounds the memory of all bodies from when they are read until their pages are
// stored. Half of it is divided among the workers in advance, so an ordinary page never waits. A
// body that outgrows its share takes everything that it may still need from the other half in one
// step. A reader that waits for that holds none of it, so there is no deadlock.
type memoryLimiter struct {
	share int64 // of each worker
	pool  int64 // for the rest
	sem   *semaphore.Weighted
}

// maxShare is the maximum share of a worker; nine pages in ten are far smaller.
const maxShare = 1 << 20

func newMemoryLimiter(total int64, workers int) *memoryLimiter {
	share := min(maxShare, total/2/int64(workers))
	pool := total - share*int64(workers)
	return &memoryLimiter{share: share, pool: pool, sem: semaphore.NewWeighted(pool)}
}

// memoryReservation is the memory reserved for one body.
type memoryReservation struct {
	m     *memoryLimiter
	extra int64 // taken from the pool
}

func (m *memoryLimiter) lend() memoryReservation {
	bodyMemory.Add(float64(m.share))
	return memoryReservation{m: m}
}

// covers reports whether a body of size bytes needs no further memory.
func (r *memoryReservation) covers(size int64) bool { return size <= r.m.share || r.extra > 0 }

// extend waits for memory for a body of most bytes. A body larger than the whole pool is read while
// no other uses it.
func (r *memoryReservation) extend(ctx context.Context, most int64) error {
	extra := min(most, r.m.pool)
	if err := Timed(waitMemory, func() error { return r.m.sem.Acquire(ctx, extra) }); err != nil {
		return err
	}
	r.extra = extra
	bodyMemory.Add(float64(extra))
	return nil
}

// room returns the memory available for one body that wants size bytes. It does not wait for more.
func (r *memoryReservation) room(size int64) int64 {
	if !r.covers(size) && r.m.sem.TryAcquire(streamMemory) {
		r.extra = streamMemory
		bodyMemory.Add(streamMemory)
	}
	return r.m.share + r.extra
}

// shrink returns the memory that is no longer needed after the body was compressed or stored.
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

// release returns all memory. It may be called again.
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
