package fetcher

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seine/pkg/messages"
)

// fleet returns n fetchers on the bus of s.
func (s *fetcherFixture) fleet(n int) []*fetcherFixture {
	s.t.Helper()
	var all []*fetcherFixture
	for range n {
		f, err := New(DefaultConfig(), s.bus, s.specs)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := f.open(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(f.client.Close)
		one := *s
		one.Fetcher = f
		all = append(all, &one)
	}
	return all
}

// Only one fetcher requests a robots.txt at a time; the others wait for its result.
func TestOneFetcherAsksForRobots(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	var asked atomic.Int64
	release := make(chan struct{})
	s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-release
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /no\n"))
	})
	var wg sync.WaitGroup
	for _, f := range s.fleet(6) {
		wg.Go(func() { f.get(s.url("/no")).wants(t, messages.RobotsDenied) })
		wg.Go(func() { f.get(s.url("/special/ok")).wants(t, messages.OK) })
	}
	for asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("robots.txt was asked for %d times", n)
	}
}

// A fetcher that died during the request blocks the others only for a limited time.
func TestClaimOfADeadFetcherEnds(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	s.putRobots(robotsEntry{Asking: time.Now().Add(200 * time.Millisecond)})
	s.get(s.url("/special/ok")).wants(t, messages.OK)
	if n := s.web.Count(0, "/robots.txt"); n != 1 {
		t.Errorf("robots.txt was asked for %d times", n)
	}
}

// RFC 9309 2.3.1.4 and 2.4: a host that cannot be asked is off limits, unless
// there is a copy that is not too old.
func TestOldCopyOfRobots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age    time.Duration
		status int
		no, ok messages.Class // for a URL that the copy denies, and for one that it does not
	}{
		"fresh":               {23 * time.Hour, 500, messages.RobotsDenied, messages.OK},
		"old, host fails":     {25 * time.Hour, 500, messages.RobotsDenied, messages.OK},
		"29 days, host fails": {29 * 24 * time.Hour, 503, messages.RobotsDenied, messages.OK},
		"31 days, host fails": {31 * 24 * time.Hour, 500, messages.ServerError, messages.ServerError},
		"old, host answers":   {25 * time.Hour, 200, messages.OK, messages.OK},
		"old, it is gone":     {25 * time.Hour, 404, messages.OK, messages.OK},
		"none, host fails":    {0, 500, messages.ServerError, messages.ServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFetcherFixture(t)
			s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) })
			if c.age > 0 {
				s.putRobots(robotsEntry{
					FetchedAt: time.Now().Add(-c.age), Status: 200, Body: []byte("User-agent: *\nDisallow: /special/empty\n"),
				})
			}
			s.get(s.url("/special/empty")).wants(t, c.no)
			s.get(s.url("/special/ok")).wants(t, c.ok)
			most := 1
			if c.no == messages.ServerError {
				most = 2
			}
			if n := s.web.Count(0, "/robots.txt"); n > most {
				t.Errorf("robots.txt was asked for %d times", n)
			}
		})
	}
}

func (s *fetcherFixture) putRobots(e robotsEntry) {
	s.t.Helper()
	e.Origin = strings.TrimSuffix(s.url(""), "/")
	value, err := json.Marshal(&e)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.robots.bucket.Put(s.t.Context(), robotsKey(e.Origin), value); err != nil {
		s.t.Fatal(err)
	}
}
