// Package answers lets many who ask the cluster the same have one answer: it consumes questions with a key, and
// emits what one question of each key was answered, for as long as that is fresh. So fifty open pages, or a
// program in a loop, cost the cluster what one costs. After Forget nobody gets an answer to what was asked before it.
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

// most bounds how many answers are kept.
const most = 200

// Cache asks once what many ask at a time, and tells an answer again while it is fresh. Errors are not
// kept. Its zero value is ready.
type Cache struct {
	// Within bounds a question, which continues when the first who wanted the answer is gone: others may wait.
	Within time.Duration

	flight  singleflight.Group
	mu      sync.Mutex
	age     uint64 // how often it has forgotten
	answers map[string]answer
}

type answer struct {
	value any
	until time.Time
}

// Of returns what ask returns, or what it returned for the same key no longer ago than keep.
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

// get returns what is kept, and the key under which an answer to what is asked now is.
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

// Forget drops all answers, those in progress too: something has changed.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.age++
	clear(c.answers)
}
