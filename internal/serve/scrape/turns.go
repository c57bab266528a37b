package scrape

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/serve/turns"
)

// ErrBusy is returned if the delay of a host exceeds the maximum wait of a request.
var ErrBusy = errors.New("the host must rest")

// hostTurns permits one request at a time to each host, with a delay between two.
type hostTurns struct {
	*turns.Turns
	most time.Duration // maximum wait of a request

	mu  sync.Mutex
	due map[string]time.Time // earliest time of the next request, by host
}

// maxHosts bounds the stored hosts. Hosts whose delay is over are dropped first, then those with
// the longest delay.
const maxHosts = 10_000

func newHostTurns(most time.Duration) *hostTurns {
	return &hostTurns{Turns: turns.New(1, maxHosts, most), most: most, due: make(map[string]time.Time)}
}

// take waits for the turn at a host, and returns the function that ends it. That function takes the
// delay for the host.
func (t *hostTurns) take(ctx context.Context, host string) (give func(rest time.Duration), err error) {
	until := time.Now().Add(t.most)
	end := t.Acquire(ctx, host)
	if end == nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("%w: others wait for %s already", ErrBusy, host))
	}
	t.mu.Lock()
	due := t.due[host]
	t.mu.Unlock()
	if due.After(until) {
		err = fmt.Errorf("%w: %s for another %s", ErrBusy, host, time.Until(due).Round(time.Second))
	} else {
		err = sleep.For(ctx, time.Until(due))
	}
	if err != nil {
		end()
		return nil, err
	}
	return func(rest time.Duration) {
		t.rest(host, time.Now().Add(rest))
		end()
	}, nil
}

// rest sets the delay of a host, and drops hosts if there are too many.
func (t *hostTurns) rest(host string, due time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.due[host] = due; len(t.due) < maxHosts {
		return
	}
	maps.DeleteFunc(t.due, func(_ string, due time.Time) bool { return !due.After(time.Now()) })
	if over := len(t.due) - maxHosts*9/10; over > 0 { // makes room for several hosts, so that not each request sorts
		resting := slices.SortedFunc(maps.Keys(t.due), func(a, b string) int { return t.due[b].Compare(t.due[a]) })
		for _, name := range resting[:over] {
			delete(t.due, name)
		}
	}
}
