// Package recent provides a cache of recently used values.
package recent

import (
	"cmp"
	"sync"
)

// DefaultMost is the default of Cache.Most.
const DefaultMost = 512

// Cache keeps recently used values: at least Most, and at most twice as many. The zero value is
// empty. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	// Most is a number of values, or the sum of their weights; 0 for DefaultMost.
	Most int
	// Weight returns the weight of a value when it is put; nil for 1.
	Weight func(V) int

	mu           sync.Mutex
	now, earlier map[K]held[V] // when now is full, it becomes earlier, and the former earlier is dropped
	weight       int           // of now
}

type held[V any] struct {
	value  V
	weight int
}

// Get returns the value of a key, and whether there is one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.get(key)
}

func (c *Cache[K, V]) get(key K) (V, bool) {
	h, ok := c.now[key]
	if ok {
		return h.value, true
	}
	if h, ok = c.earlier[key]; ok {
		c.put(key, h)
	}
	return h.value, ok
}

// GetOrPut returns the value of a key. If there is none, it puts the result of made.
func (c *Cache[K, V]) GetOrPut(key K, made func() V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok := c.get(key)
	if !ok {
		value = made()
		c.put(key, c.held(value))
	}
	return value
}

// Put sets the value of a key.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, c.held(value))
}

func (c *Cache[K, V]) held(value V) held[V] {
	if c.Weight == nil {
		return held[V]{value, 1}
	}
	return held[V]{value, c.Weight(value)}
}

func (c *Cache[K, V]) put(key K, h held[V]) {
	more := h.weight - c.now[key].weight
	if c.now == nil || more > 0 && c.weight+more > cmp.Or(c.Most, DefaultMost) {
		c.now, c.earlier, c.weight, more = make(map[K]held[V]), c.now, 0, h.weight
	}
	c.now[key] = h
	c.weight += more
}

// Delete removes a key.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.weight -= c.now[key].weight
	delete(c.now, key)
	delete(c.earlier, key)
}
