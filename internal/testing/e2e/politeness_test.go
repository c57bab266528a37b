package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// With many hosts, three fetchers and a frontier that is killed midway, no host sees two requests
// closer together than the delay. The actual gaps are only printed; bench/politeness measures them.
func TestManyHostsKeepTheirDelay(t *testing.T) {
	t.Parallel()
	const hosts, delay = 200, time.Second
	web := testweb.New(testweb.Config{Hosts: hosts, PagesPerHost: 60, LinksPerPage: 8, PageBytes: 4 << 10})
	s := testweb.Run(t, web)
	c := newCluster(t, shape{fetchers: 3})
	bus := c.bus()
	spec := crawlspec.Default()
	spec.Delay, spec.AllowPrivate = crawlspec.Duration(delay), true
	c.begin(bus, "many", &spec, seedsOf(s, hosts)...)
	served := func(n int) func() (bool, string) {
		return func() (bool, string) { return len(web.Requests()) >= n*hosts, fmt.Sprint(len(web.Requests())) }
	}
	eventually(t, time.Minute, "ask every host a few times", served(4), c.all()...)
	began, before := time.Now(), len(web.Requests())
	eventually(t, time.Minute, "go on", served(9), c.all()...)
	c.front.kill()
	c.front.start()
	eventually(t, time.Minute, "go on after the frontier was killed", served(14), c.all()...)
	rate := float64(len(web.Requests())-before) / time.Since(began).Seconds()
	t.Logf("%.1f requests a second, %.1f %% of what the delay allows", rate, 100*rate*delay.Seconds()/hosts)
	for h := range hosts {
		if gap := web.MinGap(h); gap < delay {
			t.Errorf("%s saw two requests %v apart, want at least %v", web.Name(h), gap, delay)
		}
	}
}

func seedsOf(s *testweb.Server, hosts int) (urls []string) {
	for h := range hosts {
		urls = append(urls, s.URL(h, "/"))
	}
	return urls
}

// Hosts of the faulty web.
const (
	inSeconds = iota // 429 with Retry-After in seconds
	byDate           // as inSeconds, but a date
	absurd           // as inSeconds, but thousands of years
	negative         // as inSeconds, but a negative number
	storm            // 503 with Retry-After, several times in a row
	broken           // 503 without Retry-After until it is left alone
	dying            // down for a while
	dead             // goes down for ever
	slow             // every response is slow
	badHosts
)

const (
	badDelay   = 200 * time.Millisecond
	badBreaker = time.Second
	askedFor   = 5 * time.Second // by Retry-After
	slowness   = 3 * time.Second
	badFailed  = 5             // failures that open the breaker
	inVain     = badFailed + 6 // requests to the dying host; the last ones are probes
)

// Hosts that refuse, die or are slow get requests only as the rules allow, and no other host is
// affected.
func TestMisbehavingHostsAreAskedByTheRules(t *testing.T) {
	t.Parallel()
	bad := testweb.New(testweb.Config{Hosts: badHosts, Domain: "bad.localhost", PagesPerHost: 40, LinksPerPage: 8})
	good := testweb.New(testweb.Config{Seed: 1, Hosts: 8, Domain: "good.localhost", PagesPerHost: 1000, LinksPerPage: 8, PageBytes: 4 << 10})
	var seeds []string
	servers := make(map[*testweb.Web]*testweb.Server)
	for _, w := range []*testweb.Web{bad, good} {
		s := testweb.Run(t, w)
		servers[w] = s
		seeds = append(seeds, seedsOf(s, w.Hosts())...)
	}
	bad.HandleHost(slow, func(_ http.ResponseWriter, r *http.Request) bool {
		_ = sleep.For(r.Context(), slowness)
		return false
	})
	c := newCluster(t, shape{fetchers: 2})
	bus := c.bus()
	m := &faultyHosts{T: t, cluster: c, bad: bad, s: servers[bad], client: &frontierapi.Client{Bus: bus}}
	t.Cleanup(m.printGaps)
	c.begin(bus, "bad", m.spec(), seeds...)
	eventually(t, time.Minute, "fetch some pages everywhere", func() (bool, string) {
		for h := range badHosts {
			if n := m.answered(h); n < 8 && h != slow {
				return false, fmt.Sprintf("%d of %s", n, bad.Name(h))
			}
		}
		return true, ""
	}, c.all()...)
	calm := time.Now()
	m.misbehave()
	m.explained()
	m.resumed()
	m.printRates(good, calm)

	for h := range badHosts {
		m.checkGaps(h)
	}
	for h := range good.Hosts() {
		if gap := good.MinGap(h); gap < badDelay {
			t.Errorf("%s saw two requests %v apart, want at least %v", good.Name(h), gap, badDelay)
		}
		m.checkNotHeldUp(good, h)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := m.client.SetState(ctx, "bad", "", crawlspec.Cancelled); err != nil {
		t.Fatal(err)
	}
	c.finish(bus, "bad", time.Minute)
	m.checkNothingLost()
}

// faultyHosts is a test of faulty hosts.
type faultyHosts struct {
	*testing.T
	*cluster
	bad    *testweb.Web
	s      *testweb.Server
	client *frontierapi.Client
	mended atomic.Bool // the broken host works again
}

func (f *faultyHosts) spec() *crawlspec.Spec {
	spec := crawlspec.Default()
	spec.Delay, spec.AllowPrivate = crawlspec.Duration(badDelay), true
	spec.Breaker = crawlspec.Breaker{
		Failures: badFailed, Wait: crawlspec.Duration(badBreaker), MaxWait: crawlspec.Duration(8 * badBreaker),
		// One more than can fail: the number of probes among those requests depends on how many
		// requests the fetchers have retried (see checkGaps), which may be none.
		Probes: inVain - badFailed + 1,
	}
	hopeless := spec.Breaker
	hopeless.Probes = 3
	spec.Sources = []crawlspec.HostRule{{Hosts: []string{f.bad.Name(dead)}, Breaker: &hopeless}}
	return &spec
}

func (f *faultyHosts) misbehave() {
	times := func(most int64) func() bool {
		var n atomic.Int64
		return func() bool { return n.Add(1) <= most }
	}
	refuse := func(host, status int, still func() bool, retryAfter func(now time.Time) string) {
		f.bad.HandleHost(host, func(w http.ResponseWriter, _ *http.Request) bool {
			if !still() {
				return false
			}
			now := time.Now().UTC()
			w.Header().Set("Date", now.Format(http.TimeFormat))
			if retryAfter != nil {
				w.Header().Set("Retry-After", retryAfter(now))
			}
			w.WriteHeader(status)
			return true
		})
	}
	fixed := func(s string) func(time.Time) string { return func(time.Time) string { return s } }
	refuse(inSeconds, 429, times(1), fixed(fmt.Sprint(askedFor.Seconds())))
	refuse(byDate, 429, times(1), func(now time.Time) string { return now.Add(askedFor).Format(http.TimeFormat) })
	refuse(absurd, 429, times(1), fixed("99999999999999999999"))
	refuse(negative, 429, times(2), fixed("-5"))
	refuse(storm, 503, times(2), fixed("1"))
	refuse(broken, 503, func() bool { return !f.mended.Load() }, nil)
	down := times(inVain)
	f.bad.HandleHost(dying, func(http.ResponseWriter, *http.Request) bool {
		if down() {
			panic(http.ErrAbortHandler) // closes the connection without an answer
		}
		return false
	})
	f.bad.SetHostDown(dead, true)
}

// answered and refused count the requests to a host by the kind of response.
func (f *faultyHosts) answered(host int) int {
	return f.count(host, func(s int) bool { return s == 200 })
}
func (f *faultyHosts) refused(host int) int {
	return f.count(host, func(s int) bool { return s == 429 || s == 503 })
}

func (f *faultyHosts) count(host int, want func(status int) bool) (n int) {
	for _, r := range f.bad.RequestsTo(host) {
		if !r.End.IsZero() && want(r.Status) {
			n++
		}
	}
	return n
}

func (f *faultyHosts) host(h int) frontierapi.HostStatus {
	f.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	st, err := f.client.Host(ctx, strings.Trim(strings.TrimPrefix(f.s.URL(h, ""), "http://"), "/"))
	if err != nil {
		f.T.Fatal(err)
	}
	return st
}

// explained waits until the frontier has reported for each host why it waits.
func (f *faultyHosts) explained() {
	f.T.Helper()
	missing := map[int]string{
		inSeconds: "retry_after", byDate: "retry_after", absurd: "retry_after", negative: "backoff", storm: "backoff",
		broken: "breaker_open", dying: "breaker_open", dead: "breaker_open", slow: "delay",
	}
	seen := make(map[int]string)
	eventually(f.T, time.Minute, "explain why the hosts wait", func() (bool, string) {
		for h, want := range missing {
			st := f.host(h)
			seen[h] = st.Why
			if st.Why == want {
				delete(missing, h)
				if h == broken {
					f.mended.Store(true)
				}
			}
		}
		return len(missing) == 0, fmt.Sprintf("not yet %v, but %v", missing, seen)
	}, f.all()...)
	st := f.host(absurd)
	if in := time.Until(time.UnixMilli(st.NextMS)); st.Why != "retry_after" || in < 23*time.Hour || in > 24*time.Hour {
		f.T.Errorf("the host that asked for ages waits %v (%s), want a day", in, st.Why)
	}
}

// resumed waits until every host that came back gets requests again.
func (f *faultyHosts) resumed() {
	f.T.Helper()
	eventually(f.T, 2*time.Minute, "go on with hosts that came back", func() (bool, string) {
		for _, h := range []int{inSeconds, byDate, negative, storm, broken, dying} {
			rs := f.bad.RequestsTo(h)
			good := 0
			for i := len(rs) - 1; i >= 0 && rs[i].Status == 200; i-- {
				good++
			}
			if good < 6 || h == dying && f.fetched(h) < len(f.bad.Pages(h)) {
				return false, fmt.Sprintf("%s has answered %d in a row, %d pages", f.bad.Name(h), good, f.fetched(h))
			}
		}
		return true, ""
	}, f.all()...)
	f.T.Logf("the dead host: %+v", f.host(dead))
	gaveUp := 0
	for _, p := range f.bad.Pages(dead) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		e, err := f.client.Explain(ctx, "bad", f.s.URL(dead, p))
		switch {
		case err != nil:
			f.T.Fatal(err)
		case strings.HasPrefix(e.Reason, "host_given_up"):
			gaveUp++
		case e.Known && e.State != "done" && e.State != "failed":
			f.T.Errorf("a page of the dead host is %s: %s", e.State, e.URL)
		}
	}
	if gaveUp == 0 {
		f.T.Error("no page of the dead host was given up")
	}
	if n := f.refused(absurd); n != 1 {
		f.T.Errorf("the host that asked for ages has refused %d requests", n)
	}
}

// fetched counts the pages of a host that were served.
func (f *faultyHosts) fetched(host int) int {
	served := make(map[string]bool)
	for _, r := range f.bad.RequestsTo(host) {
		if r.Status == 200 && r.Path != "/robots.txt" {
			served[r.Path] = true
		}
	}
	return len(served)
}

// checkGaps compares the requests to a host with the rules of the contract.
func (f *faultyHosts) checkGaps(host int) {
	f.T.Helper()
	rs := f.bad.RequestsTo(host)
	var slowdown, pause time.Duration
	good, failures, tolerated := 0, 0, badFailed
	failed := make(map[string]bool) // a repeated failure of the same URL is no new evidence against a host with a closed breaker
	if host == dying || host == dead {
		// Each fetcher has a kept-alive connection. If that ends without an answer, the server may
		// not have seen the request, so the fetcher retries it after the delay before it reports a
		// failure.
		tolerated += len(f.fetch)
	}
	for i := range len(rs) - 1 {
		least := badDelay
		switch s := rs[i].Status; {
		case s == 429 || s == 503 && host == storm:
			slowdown, good, failures, pause = max(time.Second, 2*max(slowdown, badDelay)), 0, 0, 0
			switch host {
			case inSeconds:
				least = askedFor
			case byDate:
				least = askedFor
			case absurd:
				least = 24 * time.Hour
			}
		case s == 0 || s == 503:
			good = 0
			if pause > 0 || !failed[rs[i].Path] {
				failures++
			}
			failed[rs[i].Path] = true
			if n := failures - tolerated; n >= 0 {
				pause = min(8*badBreaker, badBreaker<<n)
			}
		case rs[i].Path != "/robots.txt":
			failures, pause = 0, 0
			if good++; good == 10 {
				if good, slowdown = 0, slowdown/5*4; slowdown <= badDelay {
					slowdown = 0
				}
			}
			if host == slow {
				least = slowness
			}
		}
		least = max(least, slowdown, pause)
		gap := testweb.MinGap(rs[i : i+2])
		if gap < least {
			f.T.Errorf("%s: %v from answer %d (status %d) to the next request, want at least %v", f.bad.Name(host), gap, i, rs[i].Status, least)
		}
	}
	if n := f.bad.MaxConcurrent(host); n > 1 {
		f.T.Errorf("%s had %d requests at once", f.bad.Name(host), n)
	}
}

// checkNotHeldUp checks that a good host got requests while a slow one answered. It checks all of
// the slow answers together, because on a busy machine nothing may happen during a single one. It
// leaves out answers before the good host's seed was parsed: until then there is nothing else to
// request.
func (f *faultyHosts) checkNotHeldUp(good *testweb.Web, host int) {
	f.T.Helper()
	rs := good.RequestsTo(host)
	if len(rs) < 2 {
		f.T.Fatalf("%s was asked %d times", good.Name(host), len(rs))
	}
	asked, answers := 0, 0
	for _, s := range f.bad.RequestsTo(slow) {
		if s.End.IsZero() || s.At.Before(rs[1].At) {
			continue
		}
		answers++
		for _, r := range rs {
			if r.At.After(s.At) && r.At.Before(s.End) {
				asked++
			}
		}
	}
	if asked < 2*answers {
		f.T.Errorf("%s was asked %d times in the %d answers of %v of the slow host", good.Name(host), asked, answers, slowness)
	}
}

func (f *faultyHosts) printGaps() {
	for h := range badHosts {
		var b strings.Builder
		rs := f.bad.RequestsTo(h)
		for i := range len(rs) - 1 {
			fmt.Fprintf(&b, " %d:%.2f", rs[i].Status, testweb.MinGap(rs[i:i+2]).Seconds())
		}
		f.T.Logf("%s, status and seconds to the next request:%s", f.bad.Name(h), b.String())
	}
}

func (f *faultyHosts) printRates(good *testweb.Web, calm time.Time) {
	before, after := 0, 0
	all := good.Requests()
	for _, r := range all {
		if d := r.At.Sub(calm); d > 0 {
			after++
		} else if d > -2*time.Second {
			before++
		}
	}
	per := func(n int, d time.Duration) float64 { return float64(n) / d.Seconds() / float64(good.Hosts()) }
	f.T.Logf("requests a second to each good host: %.2f before the others misbehaved, %.2f since",
		per(before, 2*time.Second), per(after, time.Since(calm)))
}

// checkNothingLost checks that all pages of the host that came back are in the output, and that
// every page of the dead host has an outcome.
func (f *faultyHosts) checkNothingLost() {
	f.T.Helper()
	var got []messages.Record
	prefix := f.s.URL(dying, "/")
	for _, r := range records(f.T, f.out(), "bad") {
		if strings.HasPrefix(r.URL, prefix) {
			got = append(got, r)
		}
	}
	var want []string
	for _, p := range f.bad.Pages(dying) {
		want = append(want, f.s.URL(dying, p))
	}
	wantPages(f.T, got, want)
}
