package scrape

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Requests to one host follow each other with its rest between them, those to others do not wait.
func TestHostRestsBetweenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		began := time.Now()
		ended := make(chan time.Duration, 3)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				give, err := all.take(t.Context(), "a.test", time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				ended <- time.Since(began)
				time.Sleep(time.Second) // the request
				give(4 * time.Second)
			})
		}
		for _, want := range []time.Duration{0, 5 * time.Second, 10 * time.Second} {
			if got := <-ended; got != want {
				t.Errorf("a turn after %s, want %s", got, want)
			}
		}
		if _, err := all.take(t.Context(), "b.test", time.Minute); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("another host waits: %v, %s", err, time.Since(began))
		}
		wg.Wait()
	})
}

// Who would have to wait too long is told at once, and one that gives up leaves the turn to others.
func TestTurnIsNotWaitedForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		give, err := all.take(t.Context(), "a.test", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		give(time.Hour)
		if _, err := all.take(t.Context(), "a.test", time.Minute); !errors.Is(err, ErrBusy) {
			t.Errorf("a host that rests an hour: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := all.take(ctx, "a.test", 2*time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up: %v", err)
		}
		if _, err := all.take(t.Context(), "a.test", 2*time.Hour); err != nil {
			t.Error(err)
		}
		if _, err := all.take(t.Context(), "a.test", time.Second); !errors.Is(err, ErrBusy) {
			t.Errorf("while somebody has the turn: %v", err)
		}
	})
}
