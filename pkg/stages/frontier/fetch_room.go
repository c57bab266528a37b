package frontier

import "sync/atomic"

// fetchRoom shares places in FETCH between the partitions of a frontier. Requests whose pages may need a browser get half of
// them at most: where renderers are slow, or there is none, their requests stay, and must not keep those of the fetchers out.
type fetchRoom struct {
	limit int64
	taken atomic.Int64
}

// reserve takes places for requests of one partition: half of what is left, so that there are some for the others. Those that
// the partition does not use it gives back by recount.
func (r *fetchRoom) reserve() int {
	for {
		now := r.taken.Load()
		left := r.limit - now
		if left <= 0 {
			return 0
		}
		take := (left + 1) / 2
		if r.taken.CompareAndSwap(now, now+take) {
			return int(take)
		}
	}
}

// recount has counted, what a partition has taken, be now, and returns what all have.
func (r *fetchRoom) recount(counted *int, now int) (total int64) {
	total = r.taken.Add(int64(now - *counted))
	*counted = now
	return total
}
