package state

import (
	"bytes"

	"seine/internal/base/weburl"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// root is what a seed opens to its crawl: a host, or, with an empty host, a
// registrable domain. A seed opens both, whatever the scope of the crawl, so
// that another scope finds what it needs.
type root struct{ domain, host string }

// rootsOf returns the host of a URL, and its domain.
func rootsOf(url string) [2]root {
	domain := weburl.Domain(weburl.Hostname(url))
	return [2]root{{domain, weburl.Host(url)}, {domain, ""}}
}

// append adds the root to a key. The keys of a domain's hosts begin with the
// domain's.
func (r root) append(k []byte) []byte {
	k = table.Name(k, r.domain)
	if r.host != "" {
		k = table.Name(k, r.host)
	}
	return k
}

func (s *Partition) openedKey(crawl string, r root) []byte {
	return r.append(table.Name(table.Prefix(s.partition, kindOpened), crawl))
}

func (s *Partition) openingKey(crawl string, r root) []byte {
	return r.append(table.Name(table.Prefix(s.partition, kindOpening), crawl))
}

// isOpen reports whether a seed has opened a root.
func (s *Partition) isOpen(name string, r root) (bool, error) {
	c := s.crawls[name]
	if c == nil { // it rests, and who asks wakes it not
		return s.store.has(s.openedKey(name, r))
	}
	open, cached := c.roots[r]
	if cached {
		return open, nil
	}
	open, err := s.store.has(s.openedKey(name, r))
	if err == nil {
		c.roots[r] = open
	}
	return open, err
}

// maxRoots bounds the cache of what is in scope, between turns.
const maxRoots = 4096

// addScopeRoots lets a crawl enter the host of a seed, and its domain. What was found
// there before is taken back from the next turn on, in steps: see admitOpened. So
// the order of seeds and links does not matter.
func (s *Partition) addScopeRoots(name, url string) error {
	c := s.crawl(name)
	for _, r := range rootsOf(url) {
		if open, err := s.isOpen(name, r); err != nil {
			return err
		} else if open {
			continue
		}
		c.roots[r], c.Opening, c.dirty = true, true, true
		s.tx.Set(s.openedKey(name, r), nil)
		s.tx.Set(s.openingKey(name, r), nil)
	}
	return nil
}

// opening is a root whose URLs are being taken back.
type opening struct {
	key   []byte // of the root
	from  []byte // the URLs from here on are left
	start []byte // of the keys of all its URLs
}

// admitOpened takes back a part of the URLs that were excluded because their
// hosts were not open, and are now. It notes how far it came in the same turn.
func (s *Partition) admitOpened(name string, c *crawl, rules *Rules, now int64) error {
	var roots []opening
	pre := table.Name(table.Prefix(s.partition, kindOpening), name)
	var last []byte
	listed, err := s.walk(pre, &last, func(key, after []byte) error {
		o := opening{key: bytes.Clone(key), start: bytes.Clone(key)}
		o.start[len(table.Prefix(0, 0))-1] = kindBarred
		o.from = append(bytes.Clone(o.start), after...)
		roots = append(roots, o)
		return nil
	})
	if err != nil {
		return err
	}
	all, err := inTurn(roots, func(o *opening, most int) (int, error) { return s.admitRoot(name, o, most, rules, now) })
	c.Opening, c.dirty = !listed || !all, true
	return err
}

// admitRoot takes back at most so many URLs of a root, and returns how many; as
// many as that if some may be left.
func (s *Partition) admitRoot(name string, o *opening, most int, rules *Rules, now int64) (n int, err error) {
	var keys [][]byte
	err = s.store.scan(o.start, o.from, func(key, _ []byte) (bool, error) {
		keys = append(keys, bytes.Clone(key))
		return len(keys) < most, nil
	})
	for _, key := range keys {
		if err == nil {
			err = s.unbar(name, key, rules, now)
		}
	}
	if err != nil {
		return 0, err
	}
	if len(keys) < most {
		s.tx.Delete(o.key)
	} else {
		s.tx.Set(o.key, append(keys[len(keys)-1][len(o.start):], 0))
	}
	return len(keys), nil
}

// unbar admits the URL that a key is about, which may be excluded again.
func (s *Partition) unbar(name string, key []byte, rules *Rules, now int64) error {
	hash, _ := hashAtEnd(key)
	id := urlID{name, hash}
	r, err := s.record(id)
	switch {
	case err != nil:
		return err
	case r == nil || !r.Has(key):
		s.stray(key)
		return nil
	case r.State != Excluded || r.Reason != frontierapi.ReasonScope: // it was admitted in this turn
		return nil
	}
	return s.admit(r, id, rules, now)
}
