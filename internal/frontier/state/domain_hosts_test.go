package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

func byDomain(s *crawlspec.Spec) { s.GroupBy = crawlspec.GroupByDomain }
func byHost(s *crawlspec.Spec)   { s.GroupBy = crawlspec.GroupByHost }

// Whatever a crawl groups by from now on, queued URLs continue, changes apply, and no pace is
// forgotten.
func TestGroupingChangesWhileTheCrawlRuns(t *testing.T) {
	for name, groups := range map[string][2]func(*crawlspec.Spec){"to domain": {byHost, byDomain}, "to host": {byDomain, byHost}} {
		t.Run(name, func(t *testing.T) {
			w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay = second; groups[0](s) })
			w.seed("https://www.a.test/1", "https://www.a.test/2", "https://x.a.test/1", "https://x.a.test/2")
			w.link(3, "https://www.a.test/far", "https://x.a.test/blog/1")
			w.wantSent(w.dispatch(1), "https://www.a.test/1")
			w.change(groups[1])
			w.restart()
			w.link(1, "https://www.a.test/far") // found nearer
			w.change(func(s *crawlspec.Spec) { s.Exclude = []string{"*/blog/*"} })
			w.tend()
			w.wantState("https://x.a.test/blog/1", Excluded, frontierapi.ReasonExclude)
			if name == "to domain" {
				w.wantSent(w.dispatch(10)) // a request to its domain is in flight
				w.result("https://www.a.test/1", nil)
				w.pass(time.Second - 1)
				w.wantSent(w.dispatch(10))
				w.pass(1)
				w.wantSent(w.dispatch(10), "https://x.a.test/1")
			} else {
				w.wantSent(w.dispatch(10), "https://x.a.test/1")
				w.result("https://www.a.test/1", nil)
			}
			w.result("https://x.a.test/1", nil)
			left := []string{"https://www.a.test/2", "https://x.a.test/2", "https://www.a.test/far"}
			for range 10 * len(left) {
				w.pass(500 * time.Millisecond)
				for _, u := range w.dispatch(10) {
					left = slices.DeleteFunc(left, func(l string) bool { return l == u })
					w.result(u, nil)
				}
			}
			if len(left) > 0 {
				t.Errorf("%q were not sent", left)
			}
		})
	}
}

// One crawl groups by domain and another by host: together they send the host requests no more
// often than each may.
func TestPaceOfADomainCountsRequestsMadeByHost(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay = second })
	w.seed("https://www.a.test/1", "https://x.a.test/1")
	w.wantSent(w.dispatch(1), "https://www.a.test/1")
	w.result("https://www.a.test/1", nil)
	w.change(byDomain)
	w.wantSent(w.dispatch(10))
	w.pass(time.Second)
	w.wantSent(w.dispatch(10), "https://x.a.test/1")
}

func TestSourcesAndPausesOfHostsHoldInADomain(t *testing.T) {
	slow, paused := 10*second, crawlspec.Paused
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Delay, s.GroupBy = second, crawlspec.GroupByDomain
		s.Sources = []crawlspec.HostRule{
			{Hosts: []string{"paused.a.test"}, State: &paused}, {Hosts: []string{"slow.a.test"}, Delay: &slow},
		}
	})
	w.seed("https://paused.a.test/", "https://slow.a.test/1", "https://slow.a.test/2", "https://www.a.test/1", "https://www.a.test/2", "https://www.a.test/3")
	start := w.now
	at := make(map[string]time.Duration)
	for range 60 {
		for _, u := range w.dispatch(10) {
			at[u] = w.now.Sub(start)
			w.result(u, nil)
		}
		w.pass(500 * time.Millisecond)
	}
	if _, sent := at["https://paused.a.test/"]; sent || len(at) != 5 {
		t.Fatalf("sent %v", at)
	}
	if d := at["https://slow.a.test/2"] - at["https://slow.a.test/1"]; d < 10*time.Second {
		t.Errorf("a host with a delay of 10s was asked again after %v", d)
	}
	times := make([]time.Duration, 0, len(at))
	for _, d := range at {
		times = append(times, d)
	}
	slices.Sort(times)
	for i := range times[1:] {
		if d := times[i+1] - times[i]; d < time.Second {
			t.Errorf("the domain was asked again after %v", d)
		}
	}
	w.change(func(s *crawlspec.Spec) { s.Sources = nil })
	w.pass(10 * time.Second)
	w.wantSent(w.dispatch(10), "https://paused.a.test/")
}

func TestHostsOfADomainTakeTurns(t *testing.T) {
	fast, many := 0*second, 4
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Delay, s.GroupBy = second, crawlspec.GroupByDomain
		s.Sources = []crawlspec.HostRule{{Hosts: []string{"fast.a.test"}, Delay: &fast, PerHost: &many}}
	})
	const hosts = 3 * maxLine
	for i := range 200 {
		w.seed(fmt.Sprintf("https://fast.a.test/%d", i))
	}
	for i := range hosts {
		w.seed(fmt.Sprintf("https://h%d.a.test/1", i), fmt.Sprintf("https://h%d.a.test/2", i))
	}
	first, others := make(map[string]int), 0
	for step := range 3 * hosts {
		for _, u := range w.dispatch(10) {
			w.result(u, nil)
			if u[8] == 'h' {
				first[u]++
				others++
			}
		}
		if step == 10 {
			w.restart()
		}
		w.pass(time.Second)
	}
	if others != 2*hosts {
		t.Errorf("%d of %d requests went to other hosts than the fast one", others, 2*hosts)
	}
	for u, n := range first {
		if n != 1 {
			t.Errorf("%s was sent %d times", u, n)
		}
	}
	w.part.hosts.maxHosts = 4
	w.seed("https://other.test/1", "https://other2.test/1", "https://other3.test/1", "https://other4.test/1", "https://other5.test/1")
	if n := len(w.part.hosts.domains); n > 2*len(w.part.hosts.active) {
		t.Errorf("%d domains in memory for %d hosts", n, len(w.part.hosts.active))
	}
}

// A host that is outside its hours, or down, does not block other hosts of its domain.
func TestHostThatIsDownHoldsUpNoOtherOfItsDomain(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Delay, s.GroupBy, s.MaxAttempts = second, crawlspec.GroupByDomain, 100
		s.Breaker = crawlspec.Breaker{Failures: 1, Wait: 3600 * second, MaxWait: 3600 * second, Probes: 3}
		s.Sources = []crawlspec.HostRule{{Hosts: []string{"night.a.test"}, Hours: []string{"22:00-06:00"}}}
	})
	w.now = time.Date(2026, 11, 21, 5, 59, 59, 0, time.UTC)
	w.seed("https://night.a.test/1", "https://night.a.test/2")
	w.wantSent(w.dispatch(10), "https://night.a.test/1")
	w.result("https://night.a.test/1", nil)
	w.seed("https://down.a.test/1", "https://down.a.test/2", "https://www.a.test/1", "https://www.a.test/2")
	w.pass(time.Second)
	w.wantSent(w.dispatch(10), "https://down.a.test/1")
	w.result("https://down.a.test/1", class(messages.ConnectFailure))
	w.pass(time.Second)
	w.wantSent(w.dispatch(10), "https://www.a.test/1")
	w.result("https://www.a.test/1", nil)
	w.pass(time.Second)
	w.wantSent(w.dispatch(10), "https://www.a.test/2")
}
