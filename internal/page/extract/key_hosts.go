package extract

import (
	"hash/maphash"
	"strings"
	"sync"
)

// maxKeys is the number of keys remembered for a kind.
const maxKeys = 4096

// keyHosts detects a key that records of two hosts share: destinations that keep only the last
// record of a key would replace one by the other. It remembers the first keys of a kind. It is safe
// for concurrent use.
type keyHosts struct {
	seed maphash.Seed

	mu     sync.Mutex
	hosts  map[uint64]string // by hash of the key
	rule   string            // that made the second record
	joined []string          // nil until two hosts share a key
}

func newKeyHosts() *keyHosts {
	return &keyHosts{seed: maphash.MakeSeed(), hosts: make(map[uint64]string)}
}

// note records that a rule has made a record with this key from a page on host. It reports whether
// this is the first record whose key belongs to another host.
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

// joinedBy returns the two hosts that share a key, if this rule made the second record.
func (k *keyHosts) joinedBy(rule string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rule != rule {
		return nil
	}
	return k.joined
}
