package frontier

import "sync/atomic"

// fetchRoom shares the capacity of FETCH among the partitions of a frontier. Requests whose pages
// may need a browser get at most half of it: if renderers are slow or absent, their requests stay
// in FETCH, and must not block those of the fetchers.
type fetchRoom struct {
	limit int64
	taken atomic.Int64
}

// reserve takes capacity for the requests of one partition: half of the free capacity, so that some
// is left for the others. The partition returns the unused part by recount.
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

// recount sets a partition's share from counted to now, and returns the total of all partitions.
func (r *fetchRoom) recount(counted *int, now int) (total int64) {
	total = r.taken.Add(int64(now - *counted))
	*counted = now
	return total
}
