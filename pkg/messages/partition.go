package messages

import (
	"hash/fnv"

	"seine/internal/base/weburl"
)

// DefaultPartitions is the default number of partitions. Sixteen lets a crawl grow to sixteen
// frontiers or writers, and costs a laptop nothing.
const DefaultPartitions = 16

// MaxPartitions bounds the number of partitions: each has a few JetStream consumers, which stay
// cheap into the hundreds.
const MaxPartitions = 256

// Partition returns the partition of a canonical URL among n: FNV-1a-32 of its registrable domain,
// modulo n. NATS uses the same hash for partition(), so any client can reproduce it. All URLs of a
// domain are in one partition, so that host and domain limits need no coordination.
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
