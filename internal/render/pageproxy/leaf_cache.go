package pageproxy

import (
	"container/list"
	"crypto/tls"
	"sync"
)

// leafCache keeps the certificates of the hosts that were asked for last.
type leafCache struct {
	limit int

	mu     sync.Mutex
	byHost map[string]*list.Element
	order  *list.List // of cachedLeaf, that of the latest use in front
}

type cachedLeaf struct {
	host        string
	certificate *tls.Certificate
}

func newLeafCache(limit int) *leafCache {
	return &leafCache{limit: limit, byHost: map[string]*list.Element{}, order: list.New()}
}

// get returns nil for a host without one.
func (c *leafCache) get(host string) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byHost[host]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(cachedLeaf).certificate
}

// put keeps a certificate. Of two made at once for a host the second is kept:
// both are good.
func (c *leafCache) put(host string, certificate *tls.Certificate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byHost[host]; e != nil {
		c.order.Remove(e)
	}
	c.byHost[host] = c.order.PushFront(cachedLeaf{host, certificate})
	if c.order.Len() > c.limit {
		oldest := c.order.Remove(c.order.Back()).(cachedLeaf)
		delete(c.byHost, oldest.host)
	}
}
