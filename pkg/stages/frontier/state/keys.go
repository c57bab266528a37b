package state

import (
	"encoding/binary"
	"errors"

	"seine/pkg/messages"
)

// Keys of the store. All begin with the partition, so that one can be moved or
// dropped as a range, and a kind:
//
//	P stream                                   → position reached
//	C crawl                                    → counters
//	c crawl                                    → crawl that has not ended: see loadCrawls
//	U crawl hash                               → URL record
//	f crawl hash                               → URL whose last visit failed
//	Q host crawl priority depth arrival hash   → queued, in the order of dispatch
//	T due host                                 → host with work, by the time it may go; or a domain
//	D domain                                   → domain record
//	L domain due host                          → host in line for its domain, by the time it may go
//	H host                                     → host record
//	R due crawl hash                           → URL waiting for another attempt
//	I crawl hash                               → request under way: its sequence in FETCH
//	A crawl domain host                        → host that seeds opened; without host, domain
//	V crawl domain host                        → the same, being opened: which URL is next
//	E crawl hash                               → URL that people fed
//	F crawl hash part                          → what a page has led to: hashes of URLs of this partition
//	G crawl run hash                           → page that is unchanged: which of its links is next
//	r crawl run                                → figures of a run
//	m crawl hash                               → metadata of a URL
//	n crawl digest                             → metadata that URLs inherit
//	Z crawl host                               → host parked for a crawl
//	O crawl hash                               → URL known with its parameters in some order
//	B crawl domain host hash                   → URL excluded because its host is not open
//	J kind …                                   → value under a key of that kind that could not be read
//	W crawl number                             → message that waits for the removal of a deleted crawl
//	N                                          → the state is another store's, and behind
//	M                                          → the last snapshot has a crawl that was removed since
//	Y                                          → how far hosts that nobody wants are forgotten
//	K                                          → the partition's time: see partitionTime
//
// Names end with a zero byte, which none contains; numbers are big-endian.
const (
	kindPosition = 'P'
	kindCounters = 'C'
	kindAwake    = 'c'
	kindURL      = 'U'
	kindFailed   = 'f'
	kindQueue    = 'Q'
	kindDue      = 'T'
	kindHost     = 'H'
	kindDomain   = 'D'
	kindLine     = 'L'
	kindRetry    = 'R'
	kindInFlight = 'I'
	kindOpened   = 'A'
	kindOpening  = 'V'
	kindSeed     = 'E'
	kindParked   = 'Z'
	kindOrder    = 'O'
	kindBarred   = 'B'
	kindNew      = 'N'
	kindTime     = 'K'
	kindSetAside = 'J'

	kindPostponed = 'W'
	kindLinks     = 'F'
	kindUnchanged = 'G'
	kindUnsaved   = 'M'
	kindRun       = 'r'
	kindMetadata  = 'm'
	kindInherited = 'n'

	kindForgetting = 'Y'
)

// prefix starts a key of a kind in partition p.
func prefix(p int, kind byte) []byte {
	k := make([]byte, 0, 64)
	return append(binary.BigEndian.AppendUint16(k, uint16(p)), kind)
}

// named appends a name and its end.
func named(k []byte, name string) []byte { return append(append(k, name...), 0) }

// urlID is a URL of a crawl, as a map key.
type urlID struct {
	crawl string
	hash  messages.URLHash
}

func (s *Partition) urlKey(id urlID) []byte {
	return append(named(prefix(s.partition, kindURL), id.crawl), id.hash[:]...)
}

func (s *Partition) failedKey(id urlID) []byte {
	return append(named(prefix(s.partition, kindFailed), id.crawl), id.hash[:]...)
}

func (s *Partition) inFlightKey(id urlID) []byte {
	return append(named(prefix(s.partition, kindInFlight), id.crawl), id.hash[:]...)
}

func (s *Partition) seedKey(id urlID) []byte {
	return append(named(prefix(s.partition, kindSeed), id.crawl), id.hash[:]...)
}

func (s *Partition) orderKey(crawl string, mark messages.URLHash) []byte {
	return append(named(prefix(s.partition, kindOrder), crawl), mark[:]...)
}

func (s *Partition) parkedKey(crawl, host string) []byte {
	return append(named(prefix(s.partition, kindParked), crawl), host...)
}

func (s *Partition) retryKey(due int64, id urlID) []byte {
	k := binary.BigEndian.AppendUint64(prefix(s.partition, kindRetry), uint64(due))
	return append(named(k, id.crawl), id.hash[:]...)
}

func (s *Partition) dueKey(due int64, host string) []byte {
	k := binary.BigEndian.AppendUint64(prefix(s.partition, kindDue), uint64(due))
	return append(k, host...)
}

func (s *Partition) hostKey(host string) []byte {
	return append(prefix(s.partition, kindHost), host...)
}

func (s *Partition) queuePrefix(host, crawl string) []byte {
	return named(named(prefix(s.partition, kindQueue), host), crawl)
}

// hashAtEnd returns the URL's hash that ends a key, false if the key is too short.
func hashAtEnd(key []byte) (messages.URLHash, bool) {
	n := len(key) - len(messages.URLHash{})
	if n < 0 {
		return messages.URLHash{}, false
	}
	return messages.URLHash(key[n:]), true
}

// after returns the key that follows every key with the prefix k.
func after(k []byte) []byte {
	end := append([]byte(nil), k...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// idAtEnd returns the URL that a key ends with: crawl and hash.
func idAtEnd(k []byte) (urlID, bool) {
	name, hash, err := cutName(k)
	if err != nil || len(hash) != len(messages.URLHash{}) {
		return urlID{}, false
	}
	return urlID{name, messages.URLHash(hash)}, true
}

// cutName splits a name and its end from what follows.
func cutName(k []byte) (name string, rest []byte, err error) {
	for i, c := range k {
		if c == 0 {
			return string(k[:i]), k[i+1:], nil
		}
	}
	return "", nil, errors.New("key without the end of a name")
}
