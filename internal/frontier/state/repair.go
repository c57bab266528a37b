package state

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Faults of a store that are repaired or quarantined, as labels of repairsTotal. No contradiction
// between keys, and no unreadable value, stops a partition.
const (
	repairIndex    = "index"     // a dangling or missing index entry
	repairQueue    = "queue"     // a queue with a wrong count, or with URLs of another queue
	repairURL      = "url"       // a URL that cannot be read, or lacks what its state requires
	repairHost     = "host"      // a host or domain that cannot be read
	repairCounters = "counters"  // counters that cannot be read, or are wrong
	repairInFlight = "in_flight" // a stray in-flight entry, or a wrong counter of in-flight requests
	repairTime     = "time"      // the time of the partition that cannot be read
	repairPosition = "position"  // a position in a stream that cannot be read
	repairMessage  = "message"   // a waiting message that cannot be read
)

var repairsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "seine_frontier_repairs_total", Help: "Repaired or quarantined inconsistencies of the store, 0 if it is healthy: index, queue, url, host, counters, in_flight, position, time, message.",
}, []string{"what"})

func init() { // so that rates include the first repair
	for _, what := range []string{repairIndex, repairQueue, repairURL, repairHost, repairCounters, repairInFlight, repairTime, repairPosition, repairMessage} {
		repairsTotal.WithLabelValues(what)
	}
}

// repairOf returns the label for a fault of an index.
func repairOf(index byte) string {
	switch index {
	case kindQueue:
		return repairQueue
	case kindInFlight:
		return repairInFlight
	}
	return repairIndex
}
