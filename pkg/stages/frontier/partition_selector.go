package frontier

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// PartitionSelector defines which partitions a process owns: fair, all, or a list.
type PartitionSelector string

// Values of a PartitionSelector other than a list.
const (
	TakeFair PartitionSelector = "fair" // an equal share among the processes
	TakeAll  PartitionSelector = "all"  // all or none
)

// Partitions returns the partitions of a list such as "0-7,12", out of n; nil for TakeFair and
// TakeAll.
func (s PartitionSelector) Partitions(n int) ([]int, error) {
	if s == TakeFair || s == TakeAll {
		return nil, nil
	}
	var ps []int
	for part := range strings.SplitSeq(string(s), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		switch {
		case errA != nil || errB != nil || a > b:
			return nil, fmt.Errorf("%q: must be fair, all, or partitions such as 0-7,12", s)
		case b >= n:
			return nil, fmt.Errorf("%q: there are partitions 0 to %d", s, n-1)
		}
		for p := a; p <= b; p++ {
			ps = append(ps, p)
		}
	}
	slices.Sort(ps)
	return slices.Compact(ps), nil
}
