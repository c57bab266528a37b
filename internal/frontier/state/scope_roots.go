package state

import (
	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
)

// root is what a seed opens to its crawl: a host, or, with an empty host, a registrable domain. A
// seed opens both, whatever the scope of the crawl, so that the scope may change.
type root struct{ domain, host string }

// rootsOf returns the roots of a URL: its host, then its domain.
func rootsOf(url string) [2]root {
	domain := weburl.Domain(weburl.Hostname(url))
	return [2]root{{domain, weburl.Host(url)}, {domain, ""}}
}

// append adds the root to a key. The keys of a domain's hosts begin with the domain's key.
func (r root) append(k []byte) []byte {
	k = table.Name(k, r.domain)
	if r.host != "" {
		k = table.Name(k, r.host)
	}
	return k
}

// rootAtEnd decodes the root that append has added to a key.
func rootAtEnd(k []byte) root {
	domain, rest, _ := table.CutName(k)
	host, _, _ := table.CutName(rest)
	return root{domain, host}
}

func (s *scope) openedKey(crawl string, r root) []byte {
	return r.append(table.Name(table.Prefix(s.partition, kindOpened), crawl))
}

func (s *scope) openingKey(crawl string, r root) []byte {
	return r.append(table.Name(table.Prefix(s.partition, kindOpening), crawl))
}

// isOpen reports whether a seed has opened a root.
func (s *scope) isOpen(name string, r root) (bool, error) {
	c := s.crawls.active[name]
	if c == nil { // the crawl is dormant, and a query does not activate it
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

// maxRoots limits the cache of roots, between turns.
const maxRoots = 4096

// addScopeRoots opens the host and the domain of a seed. URLs found there before are admitted from
// the next turn on, in steps: see admitOpened. So the order of seeds and links does not matter.
func (s *scope) addScopeRoots(name, url string) error {
	c := s.crawls.get(name)
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
