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
	told   bool
}

func newKeyHosts() *keyHosts {
	return &keyHosts{seed: maphash.MakeSeed(), hosts: make(map[uint64]string)}
}

// note takes note that a rule has made a record with that key of a page on host.
func (k *keyHosts) note(rule, key, host string) {
	sum, host := maphash.String(k.seed, key), strings.TrimPrefix(host, "www.")
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.joined != nil {
		return
	}
	first, ok := k.hosts[sum]
	switch {
	case ok && first != host:
		k.rule, k.joined, k.hosts = rule, []string{first, strings.Clone(host)}, nil
	case !ok && len(k.hosts) < maxKeys:
		k.hosts[sum] = strings.Clone(host)
	}
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

// newlyJoined reports, once, that the rule has joined two hosts.
func (k *keyHosts) newlyJoined(rule string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	newly := k.joined != nil && k.rule == rule && !k.told
	k.told = k.told || newly
	return newly
}
