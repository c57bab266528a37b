package pages

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// fresh is how long an answer of the cluster is told to others who ask the same.
const fresh = 2 * time.Second

// maxAnswers bounds how many answers are kept.
const maxAnswers = 200

// cache asks once what many ask at a time, and tells an answer again while it is fresh. Errors are not
// kept.
type cache struct {
	flight  singleflight.Group
	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	value any
	until time.Time
}

// cached returns what ask returns, or what it returned for the same key no longer ago than keep. Ask goes on
// when the first who wanted it is gone: others may wait.
func cached[T any](ctx context.Context, c *cache, key string, keep time.Duration, ask func(context.Context) (T, error)) (T, error) {
	if have, ok := c.get(key); ok {
		return have.(T), nil
	}
	result := c.flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
		defer cancel()
		value, err := ask(ctx)
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

func (c *cache) get(key string) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	have, ok := c.answers[key]
	return have.value, ok && time.Now().Before(have.until)
}

func (c *cache) put(key string, value any, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil {
		c.answers = make(map[string]answer)
	}
	now := time.Now()
	maps.DeleteFunc(c.answers, func(_ string, a answer) bool { return now.After(a.until) })
	if len(c.answers) < maxAnswers {
		c.answers[key] = answer{value, now.Add(keep)}
	}
}

// forget drops all answers: something has changed.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.answers)
}
