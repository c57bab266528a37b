package scrape

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Requests to one host are separated by its delay; requests to other hosts do not wait.
func TestHostRestsBetweenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newHostTurns(time.Minute)
		began := time.Now()
		ended := make(chan time.Duration, 3)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				give, err := all.take(t.Context(), "a.test")
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
		if _, err := all.take(t.Context(), "b.test"); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("another host waits: %v, %s", err, time.Since(began))
		}
		wg.Wait()
	})
}

// A caller that would have to wait too long is refused at once. A caller that gives up leaves its
// turn to others.
func TestTurnIsNotWaitedForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newHostTurns(2 * time.Minute)
		take := func(host string) (func(time.Duration), error) { return all.take(t.Context(), host) }
		give, err := take("a.test")
		if err != nil {
			t.Fatal(err)
		}
		give(time.Hour)
		began := time.Now()
		if _, err := take("a.test"); !errors.Is(err, ErrBusy) || time.Since(began) > 0 {
			t.Errorf("a host that rests an hour: %v after %s", err, time.Since(began))
		}
		if give, err = take("b.test"); err != nil {
			t.Fatal(err)
		}
		give(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := all.take(ctx, "b.test"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up: %v", err)
		}
		if _, err := take("b.test"); err != nil {
			t.Error(err)
		}
		if _, err := take("b.test"); !errors.Is(err, ErrBusy) {
			t.Errorf("while somebody has the turn: %v", err)
		}
		if _, err := all.take(ctx, "b.test"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of a request that has ended: %v", err)
		}
	})
}

// Hosts with very long delays, as a robots.txt may request, do not fill the memory, and the others
// keep their delays.
func TestRestingHostsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newHostTurns(time.Second)
		rest := func(host string, rest time.Duration) {
			give, err := all.take(t.Context(), host)
			if err != nil {
				t.Fatal(err)
			}
			give(rest)
		}
		rest("usual.test", time.Minute)
		for i := range 3 * maxHosts {
			rest(fmt.Sprintf("h%d.test", i), time.Duration(i%7+1)*365*24*time.Hour)
		}
		if n := len(all.due); n > maxHosts {
			t.Errorf("%d hosts are remembered, want at most %d", n, maxHosts)
		}
		if _, err := all.take(t.Context(), "usual.test"); !errors.Is(err, ErrBusy) {
			t.Errorf("a host with a usual rest is not remembered: %v", err)
		}
	})
}

// The size of a map in bytes is bounded, whatever the URLs of a site.
func TestMapIsBoundedInBytes(t *testing.T) {
	m := &mapper{most: MaxURLs, seen: make(map[string]bool)}
	for i := range 5000 {
		m.add(Found{URL: fmt.Sprintf("https://a.test/%d/%s", i, strings.Repeat("x", 8000))})
	}
	size := 0
	for _, f := range m.URLs {
		size += len(f.URL)
	}
	if size > 16<<20 || size < 8<<20 || !m.Truncated {
		t.Errorf("%d bytes in %d URLs, truncated %t", size, len(m.URLs), m.Truncated)
	}
}
