package fleet

import (
	"fmt"
	"strings"

	"seine/bench/proc"
)

// Usage is CPU time by the kind of process, in seconds until it is told otherwise.
type Usage map[string]float64

// Kinds are those of the processes that there are, in the order of the tables.
func (u Usage) Kinds() (kinds []string) {
	for _, kind := range append([]string{proc.NATSServer}, Commands()...) {
		if _, ok := u[kind]; ok {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Since is what was used since an earlier moment.
func (u Usage) Since(before Usage) Usage {
	since := make(Usage)
	for kind, seconds := range u {
		since[kind] = seconds - before[kind]
	}
	return since
}

// PerPage is what each of some pages has taken, in milliseconds.
func (u Usage) PerPage(pages int) Usage {
	each := make(Usage)
	for kind, seconds := range u {
		each[kind] = 1000 * seconds / float64(pages)
	}
	return each
}

// Total is that of all kinds.
func (u Usage) Total() (sum float64) {
	for _, v := range u {
		sum += v
	}
	return sum
}

// String names the total and then each kind.
func (u Usage) String() string {
	var kinds []string
	for _, kind := range u.Kinds() {
		kinds = append(kinds, fmt.Sprintf("%s %.2f", kind, u[kind]))
	}
	return fmt.Sprintf("%.2f: %s", u.Total(), strings.Join(kinds, ", "))
}
