package turns

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A caller has a bounded number of turns, and so have all together; whoever waits in vain is refused after a while.
func TestTurnsAreBoundedByCallerAndInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(2, 5)
		begin := func(who string, want bool, after time.Duration) {
			t.Helper()
			began := time.Now()
			if got := turns.Begin(t.Context(), who); got != want || time.Since(began) != after {
				t.Errorf("%s: %t after %s, want %t after %s", who, got, time.Since(began), want, after)
			}
		}
		begin("a", true, 0)
		begin("a", true, 0)
		begin("a", false, maxWait)
		begin("b", true, 0)
		begin("b", true, 0)
		begin("c", true, 0)
		begin("d", false, maxWait)
		time.AfterFunc(time.Second, func() { turns.End("a") })
		begin("d", true, time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if turns.Begin(ctx, "a") {
			t.Error("a request that has ended has a turn")
		}
		for _, who := range []string{"a", "b", "b", "c", "d"} {
			turns.End(who)
		}
		if turns.total != 0 || len(turns.held) != 0 {
			t.Errorf("%d turns are held, by %v", turns.total, turns.held)
		}
	})
}

// Each request that waits gets its turn when the others end, and never are there more than the bounds.
func TestTurnsOfManyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(3, 7)
		var wg sync.WaitGroup
		for i := range 100 {
			who := fmt.Sprint(i % 5)
			wg.Go(func() {
				if !turns.Begin(t.Context(), who) {
					t.Errorf("%s waited in vain", who)
					return
				}
				turns.mu.Lock()
				if turns.total > 7 || turns.held[who] > 3 {
					t.Errorf("%d turns, %d of %s", turns.total, turns.held[who], who)
				}
				turns.mu.Unlock()
				time.Sleep(100 * time.Millisecond)
				turns.End(who)
			})
		}
		wg.Wait()
	})
}
