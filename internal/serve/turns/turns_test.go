package turns

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const wait = 10 * time.Second

// The number of turns is limited per caller and in total. A caller that waits in vain is refused
// after the wait.
func TestTurnsAreBoundedByCallerAndInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(2, 5, wait)
		ends := make(map[string][]func())
		begin := func(who string, want bool, after time.Duration) {
			t.Helper()
			began := time.Now()
			end := turns.Acquire(t.Context(), who)
			if (end != nil) != want || time.Since(began) != after {
				t.Errorf("%s: %t after %s, want %t after %s", who, end != nil, time.Since(began), want, after)
			}
			if end != nil {
				ends[who] = append(ends[who], end)
			}
		}
		begin("a", true, 0)
		begin("a", true, 0)
		begin("a", false, wait)
		begin("b", true, 0)
		begin("b", true, 0)
		begin("c", true, 0)
		begin("d", false, wait)
		time.AfterFunc(time.Second, ends["a"][0])
		begin("d", true, time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ends["c"][0]()
		if turns.Acquire(ctx, "c") != nil {
			t.Error("a request that has ended has a turn")
		}
		for _, end := range []func(){ends["a"][1], ends["b"][0], ends["b"][1], ends["d"][0]} {
			end()
		}
		if len(turns.callers) != 0 || !turns.all.TryAcquire(5) {
			t.Errorf("turns are held, by %v", turns.callers)
		}
	})
}

// Turns are given in the order of arrival. Without a wait, callers are refused at once.
func TestTurnsAreGivenInOrder(t *testing.T) {
	for name, turns := range map[string]*Turns{"of a caller": New(1, 9, wait), "in all": New(9, 1, wait)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := turns.Acquire(t.Context(), "a")
				var mu sync.Mutex
				var order []int
				for i := range 9 {
					go func() {
						end := turns.Acquire(t.Context(), "a")
						mu.Lock()
						order = append(order, i)
						mu.Unlock()
						end()
					}()
					synctest.Wait()
				}
				first()
				synctest.Wait()
				if !slices.IsSorted(order) || len(order) != 9 {
					t.Errorf("turns were given to %v", order)
				}
			})
		})
	}
	if turns := New(1, 2, 0); turns.Acquire(t.Context(), "a") == nil || turns.Acquire(t.Context(), "a") != nil || turns.Acquire(t.Context(), "b") == nil {
		t.Error("without a wait, a free turn is refused or another is given")
	}
}

// Each waiting request gets its turn when others end, and the limits are never exceeded.
func TestTurnsOfManyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(3, 7, wait)
		var all atomic.Int32
		var each [5]atomic.Int32
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				end := turns.Acquire(t.Context(), fmt.Sprint(i%5))
				if end == nil {
					t.Errorf("%d waited in vain", i)
					return
				}
				if total, own := all.Add(1), each[i%5].Add(1); total > 7 || own > 3 {
					t.Errorf("%d turns, %d of one caller", total, own)
				}
				time.Sleep(100 * time.Millisecond)
				all.Add(-1)
				each[i%5].Add(-1)
				end()
			})
		}
		wg.Wait()
	})
}
