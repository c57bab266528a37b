package state

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// What of a store may be found wrong and is put right or quarantined: no key that
// contradicts another, and no value that cannot be read, keeps a partition from
// its work. They are the labels of repairsTotal.
const (
	repairIndex    = "index"     // an entry that leads nowhere, or one that is missing
	repairQueue    = "queue"     // a queue with another number of URLs, or with URLs that are not its own
	repairURL      = "url"       // a URL that cannot be read, or is in a state without what belongs to it
	repairHost     = "host"      // a host or domain that cannot be read
	repairCounters = "counters"  // counters that cannot be read, or count something else than there is
	repairInFlight = "in_flight" // a request in flight of a URL that is not known
	repairTime     = "time"      // the time of the partition that cannot be read
	repairPosition = "position"  // a position in a stream that cannot be read
	repairMessage  = "message"   // a message that waits and cannot be read
)

var repairsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "seine_frontier_repairs_total", Help: "Repaired or quarantined inconsistencies of the store, 0 if it is healthy: index, queue, url, host, counters, in_flight, position, time, message.",
}, []string{"what"})

func init() { // so that a rate is known from the first one on
	for _, what := range []string{repairIndex, repairQueue, repairURL, repairHost, repairCounters, repairInFlight, repairTime, repairPosition, repairMessage} {
		repairsTotal.WithLabelValues(what)
	}
}

// repairOf is the label of a fault of an index.
func repairOf(index byte) string {
	switch index {
	case kindQueue:
		return repairQueue
	case kindInFlight:
		return repairInFlight
	}
	return repairIndex
}
