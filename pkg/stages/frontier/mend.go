package frontier

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// What of a store may be found wrong and is put right or set aside: no key that
// contradicts another, and no value that cannot be read, keeps a partition from
// its work. They are the labels of mendedTotal.
const (
	mendIndex = "index" // an entry that leads nowhere, or one that is missing
)

var mendedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "seine_frontier_repairs_total", Help: "What was wrong in the store and was put right or set aside, by what it was.",
}, []string{"what"})

// mended tells that something was wrong: a person once for each kind and for as
// long as the partition is owned, since what is wrong once is often wrong a
// thousand times.
func (s *shard) mended(what, text string, about ...any) {
	mendedTotal.WithLabelValues(what).Inc()
	if s.told[what] {
		s.log.Debug(text, about...)
		return
	}
	s.told[what] = true
	s.log.Warn(text+"; more of the kind is counted by seine_frontier_repairs_total, not logged", about...)
}
