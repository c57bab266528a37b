package httpclient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"seine/pkg/messages"
)

// Memory that a body no longer needs after it is compressed or stored is available to others.
func TestLoanShrinksWithItsBody(t *testing.T) {
	m := newMemoryLimiter(4<<20, 2) // a share is 1 MiB, and the pool 2 MiB
	a, b := m.lend(), m.lend()
	if err := a.extend(t.Context(), 2<<20); err != nil {
		t.Fatal(err)
	}
	a.shrink(3 << 20) // it needs all of it
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := b.extend(ctx, 1); err == nil {
		t.Fatal("the pool is lent twice")
	}
	a.shrink(1<<20 + 1<<19)
	if err := b.extend(t.Context(), 3<<19); err != nil {
		t.Fatal(err)
	}
	a.shrink(0)
	a.release()
	b.release()
	if !m.sem.TryAcquire(m.pool) {
		t.Error("not all was given back")
	}
	new(memoryReservation).shrink(0) // reservation of a request that was never sent
}

// A request that waits for memory does not time out.
func TestSuspendedWatchCountsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		total, late := Failf(messages.Timeout, "total"), Failf(messages.Stalled, "phase")
		began := time.Now()
		w := newDeadlineTimer(cancel, 10*time.Second, total)
		defer w.stop()
		w.phase(2*time.Second, late)
		time.Sleep(time.Second)
		w.suspend()
		time.Sleep(time.Minute)
		if ctx.Err() != nil {
			t.Fatalf("ended while suspended: %v", context.Cause(ctx))
		}
		w.resume()
		<-ctx.Done()
		if took := time.Since(began); took != 70*time.Second || !errors.Is(context.Cause(ctx), total) {
			t.Errorf("ended after %s: %v", took, context.Cause(ctx))
		}
	})
}

func TestBodyMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := newMemoryLimiter(4<<20, 2)
	a, b := m.lend(), m.lend()
	defer b.release()
	if !a.covers(1<<20) || a.covers(1<<20+1) {
		t.Fatal("a share is 1 MiB here")
	}
	if err := a.extend(t.Context(), 32<<20); err != nil || !a.covers(32<<20) {
		t.Fatalf("a body larger than the pool takes all of it: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.extend(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("second loan of a pool that is lent: %v", err)
	}
	a.release()
	a.release()
	if err := b.extend(t.Context(), 2<<20); err != nil {
		t.Error(err)
	}
}
