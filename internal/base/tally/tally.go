// Package tally counts by name in maps that may be nil.
package tally

// Add adds by to the count of k in a map, and creates the map if it is nil. It deletes counts of 0.
func Add[K comparable](counts *map[K]int64, k K, by int64) {
	if *counts == nil {
		*counts = make(map[K]int64)
	}
	if (*counts)[k] += by; (*counts)[k] == 0 {
		delete(*counts, k)
	}
}

// AddAll adds the counts of another map.
func AddAll[K comparable](counts *map[K]int64, others map[K]int64) {
	for k, n := range others {
		Add(counts, k, n)
	}
}
