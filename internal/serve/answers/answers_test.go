package answers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// question counts its calls and returns the count after a second.
type question struct{ asked int }

func (q *question) ask(ctx context.Context) (int, error) {
	q.asked++
	n := q.asked
	select {
	case <-time.After(time.Second):
		return n, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func TestManyWhoAskTheSameHaveOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, q := Cache{Within: time.Minute}, question{}
		for range 50 {
			go func() {
				if n, err := Of(t.Context(), &c, "a", 2*time.Second, q.ask); n != 1 || err != nil {
					t.Errorf("got %d, %v", n, err)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		if n, err := Of(t.Context(), &c, "a", 2*time.Second, q.ask); n != 1 || err != nil {
			t.Errorf("while it is fresh: %d, %v", n, err)
		}
		time.Sleep(2 * time.Second)
		if n, err := Of(t.Context(), &c, "a", 2*time.Second, q.ask); n != 2 || err != nil {
			t.Errorf("later: %d, %v", n, err)
		}
		if n, err := Of(t.Context(), &c, "b", 2*time.Second, q.ask); n != 3 || err != nil {
			t.Errorf("another question: %d, %v", n, err)
		}
	})
}

func TestNobodyGetsAnAnswerOfBeforeAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, q := Cache{Within: time.Minute}, question{}
		go func() { _, _ = Of(t.Context(), &c, "a", time.Minute, q.ask) }()
		synctest.Wait() // the call is in flight
		c.Forget()
		if n, err := Of(t.Context(), &c, "a", time.Minute, q.ask); n != 2 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	})
}

func TestAnswerComesThoughTheFirstWhoAskedIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, q := Cache{Within: time.Minute}, question{}
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			if _, err := Of(ctx, &c, "a", time.Minute, q.ask); !errors.Is(err, context.Canceled) {
				t.Errorf("who is gone got %v", err)
			}
		}()
		synctest.Wait()
		leave()
		if n, err := Of(t.Context(), &c, "a", time.Minute, q.ask); n != 1 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	})
}

func TestErrorsAreNotKept(t *testing.T) {
	c := Cache{Within: time.Minute}
	bad := errors.New("no")
	if _, err := Of(t.Context(), &c, "a", time.Minute, func(context.Context) (int, error) { return 0, bad }); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	if n, err := Of(t.Context(), &c, "a", time.Minute, func(context.Context) (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

// A call that panics returns an error to all waiting callers; the process continues.
func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Of(t.Context(), &Cache{Within: time.Minute}, "key", 0, func(context.Context) (int, error) { panic("broken") }); err == nil {
		t.Error("no error")
	}
}
