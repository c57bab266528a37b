// Package answers shares replies of the cluster among equal requests. It caches the reply of each
// key while it is fresh, so that fifty open pages, or a program in a loop, cost the cluster as much
// as one. After Forget, no request gets a reply to an earlier one.
package answers

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"seine/internal/base/panics"
)

// most bounds the number of cached replies.
const most = 200

// Cache shares replies to concurrent requests, and caches them while they are fresh. It does not
// cache errors. The zero value is ready to use.
type Cache struct {
	// Within bounds a request to the cluster. It continues if its first caller leaves, because
	// others may wait for it.
	Within time.Duration

	flight  singleflight.Group
	mu      sync.Mutex
	age     uint64 // number of calls of Forget
	answers map[string]answer
}

type answer struct {
	value any
	until time.Time
}

// Of returns the result of ask, or a cached result for the same key that is no older than keep.
func Of[T any](ctx context.Context, c *Cache, key string, keep time.Duration, ask func(context.Context) (T, error)) (T, error) {
	have, ok, key := c.get(key)
	if ok {
		return have.(T), nil
	}
	result := c.flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Within)
		defer cancel()
		value, err := panics.Catch(func() (T, error) { return ask(ctx) })
		if err == nil {
			c.put(key, value, keep)
		}
		return value, err
	})
	var none T
	select {
	case r := <-result:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(T), nil
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// get returns the cached reply, and the key under which to store a new one.
func (c *Cache) get(key string) (value any, ok bool, aged string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	aged = strconv.FormatUint(c.age, 10) + " " + key
	have, ok := c.answers[aged]
	return have.value, ok && time.Now().Before(have.until), aged
}

func (c *Cache) put(key string, value any, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil {
		c.answers = make(map[string]answer)
	}
	now := time.Now()
	maps.DeleteFunc(c.answers, func(_ string, a answer) bool { return now.After(a.until) })
	if len(c.answers) < most {
		c.answers[key] = answer{value, now.Add(keep)}
	}
}

// Forget drops all replies, including those in progress, because something has changed.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.age++
	clear(c.answers)
}
