package messages

import (
	"hash/fnv"

	"seine/internal/base/weburl"
)

// DefaultPartitions is P where nothing else was chosen when the streams were
// created. Sixteen lets a crawl grow to sixteen frontiers or writers, and costs
// a laptop nothing.
const DefaultPartitions = 16

// MaxPartitions bounds P: each partition has a few JetStream consumers, and
// those stay cheap into the hundreds.
const MaxPartitions = 256

// Partition returns the partition of a canonical URL among n: FNV-1a-32 of its
// registrable domain, modulo n. NATS uses the same hash for partition(), so
// any client can reproduce it. All of a domain is in one partition, so that
// the limits of a host and of a domain need no coordination.
func Partition(canonicalURL string, n int) int {
	if n == 1 {
		return 0
	}
	return partitionOfDomain(weburl.Domain(weburl.Hostname(canonicalURL)), n)
}

// partitionOfDomain returns the partition of the URLs of a registrable domain among n.
func partitionOfDomain(domain string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(domain))
	return int(h.Sum32() % uint32(n))
}
