package state

import (
	"bytes"
	"cmp"
	"strings"

	"seine/internal/frontier/table"
	"seine/pkg/messages"
)

// Kinds of records, by the key that follows the partition and the kind. Kinds without a named value
// have empty values.
const (
	kindPosition  = 'P' // stream → position: creation time of the stream, sequence, time of that message
	kindCounters  = 'C' // crawl → counters, and progress of its review and reseeding: see crawlTable
	kindURL       = 'U' // crawl, URL hash → record of a URL: see urlTable
	kindHost      = 'H' // host → politeness, queues of each crawl, statistics: see hostTable; or, with a mark, a domain
	kindOpened    = 'A' // crawl, domain, host → host that the seeds opened; without a host, domain
	kindOpening   = 'V' // crawl, domain, host → the same, just opened: the next of its excluded URLs to admit
	kindBarred    = 'B' // crawl, domain, host → host that has or had URLs excluded because it is not open
	kindRun       = 'r' // crawl, run → figures of a run in this partition; of the last 100 runs
	kindLinks     = 'F' // crawl, hash of a page, part → round of the page's visit, hashes of URLs of this partition
	kindUnchanged = 'G' // crawl, run, hash of a page → page that the run found unchanged: the next of its links
	kindInherited = 'n' // crawl, digest → metadata that URLs inherit
	kindRemoval   = 'W' // crawl → progress of removing a deleted crawl of the name from hosts and the index of times; without a crawl, the removal that began last
	kindSetAside  = 'J' // kind, … → unreadable value of a key of that kind
	kindUnsaved   = 'M' // the last snapshot may contain a crawl that was removed since
	kindNew       = 'N' // → snapshot: the state comes from another store and is behind the streams
	kindTime      = 'K' // → the partition's time at the last commit; progress with the specs
)

// Kinds of index keys. Each is derived from a record by its type's Derive method, and has no value.
const (
	kindQueue    = 'Q' // host, crawl, priority, depth, arrival, hash: a URL in the queue of its host, in order
	kindRetry    = 'R' // time, crawl, hash: a URL that waits for another attempt or its next visit
	kindInFlight = 'I' // crawl, hash: a URL whose request is in FETCH
	kindFailed   = 'f' // crawl, hash: a URL whose last visit failed
	kindSeed     = 'E' // crawl, hash: a URL that was submitted as a seed
	kindOrder    = 'O' // crawl, mark: a URL that is known with its parameters in another order
	kindDue      = 'T' // time, host: a host with work that is in no line; or, with a mark, a domain
	kindLine     = 'L' // domain, time, host: a host in line for its domain
	kindParked   = 'Z' // crawl, host: a parked host, as the crawl is paused or has spent its budget
	kindForget   = 'Y' // time, host: a host that no crawl wants; or, with a mark, a domain
	kindAwake    = 'c' // crawl: a crawl that has not ended
)

// urlID is a URL of a crawl, as a map key.
type urlID struct {
	crawl string
	hash  messages.URLHash
}

// compare orders URLs as their keys do in the store.
func (id urlID) compare(other urlID) int {
	return cmp.Or(strings.Compare(id.crawl, other.crawl), bytes.Compare(id.hash[:], other.hash[:]))
}

func (b *base) queuePrefix(host, crawl string) []byte {
	return table.Name(table.Name(table.Prefix(b.partition, kindQueue), host), crawl)
}

// hashAtEnd returns the URL's hash that ends a key, false if the key is too short.
func hashAtEnd(key []byte) (messages.URLHash, bool) {
	n := len(key) - len(messages.URLHash{})
	if n < 0 {
		return messages.URLHash{}, false
	}
	return messages.URLHash(key[n:]), true
}

// idAtEnd returns the URL that a key ends with: crawl and hash.
func idAtEnd(k []byte) (urlID, bool) {
	name, hash, err := table.CutName(k)
	if err != nil || len(hash) != len(messages.URLHash{}) {
		return urlID{}, false
	}
	return urlID{name, messages.URLHash(hash)}, true
}
