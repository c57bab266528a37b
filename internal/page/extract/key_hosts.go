package extract

import (
	"hash/maphash"
	"strings"
	"sync"
)

// maxKeys is how many keys are remembered of a kind.
const maxKeys = 4096

// keyHosts finds a key that records of two hosts have: where only the last record of a key counts, they replace each
// other. It remembers the first keys of a kind. It is safe for concurrent use.
type keyHosts struct {
	seed maphash.Seed

	mu     sync.Mutex
	hosts  map[uint64]string // by hash of the key
	rule   string            // that made the second record
	joined []string          // nil until two hosts have one key
}

func newKeyHosts() *keyHosts {
	return &keyHosts{seed: maphash.MakeSeed(), hosts: make(map[uint64]string)}
}

// note records that a rule has made a record with that key of a page on host, and reports whether it is the first that
// has the key of a record of another host.
func (k *keyHosts) note(rule, key, host string) bool {
	sum, host := maphash.String(k.seed, key), strings.TrimPrefix(host, "www.")
	k.mu.Lock()
	defer k.mu.Unlock()
	first, ok := k.hosts[sum]
	if !ok && len(k.hosts) < maxKeys {
		k.hosts[sum] = strings.Clone(host)
	}
	if !ok || first == host || k.joined != nil {
		return false
	}
	k.rule, k.joined = rule, []string{first, strings.Clone(host)}
	return true
}

// joinedBy returns the two hosts, if it is that rule which has joined them.
func (k *keyHosts) joinedBy(rule string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rule != rule {
		return nil
	}
	return k.joined
}
