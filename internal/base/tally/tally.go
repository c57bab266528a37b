// Package tally counts things by name in maps that begin as nil.
package tally

// Add adds by to the count of k in a map, which it makes if it is nil. A count of 0 is
// taken out, so that a map of what there is stays one.
func Add[K comparable](counts *map[K]int64, k K, by int64) {
	if *counts == nil {
		*counts = make(map[K]int64)
	}
	if (*counts)[k] += by; (*counts)[k] == 0 {
		delete(*counts, k)
	}
}

// AddAll adds other counts.
func AddAll[K comparable](counts *map[K]int64, others map[K]int64) {
	for k, n := range others {
		Add(counts, k, n)
	}
}
