package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher/httpclient"
)

const someDelay = messages.Millis(30 * time.Millisecond)

func delayed(url string) *messages.Request {
	r := request(url)
	r.Delay = someDelay
	return r
}

func TestRobotsTakesTheTurnOfAHostWithADelay(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	h := s.handle1(delayed(s.url("/")), 1)
	h.wants(t, messages.RobotsFetched)
	if h.CrawlDelay == nil || *h.CrawlDelay != 0 || h.Status != 0 || h.IP != "127.0.0.1" {
		t.Errorf("crawl delay %v, status %d, IP %q", h.CrawlDelay, h.Status, h.IP)
	}
	if got := paths(s.web); got != "/robots.txt" {
		t.Errorf("the host was asked for %s", got)
	}
	h = s.handle1(delayed(s.url("/")), 1)
	h.wants(t, messages.OK)
	if h.CrawlDelay == nil || *h.CrawlDelay != 0 {
		t.Errorf("crawl delay %v", h.CrawlDelay)
	}
	if got := paths(s.web); got != "/robots.txt /" {
		t.Errorf("the host was asked for %s", got)
	}
}

func paths(w *testweb.Web) string {
	var p []string
	for _, r := range w.Requests() {
		p = append(p, r.Path)
	}
	return strings.Join(p, " ")
}

func TestCrawlDelayAloneTakesTheTurn(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, func(_ *Config, _ *crawlspec.Spec, w *testweb.Config) { w.CrawlDelay = 2 * time.Second })
	h := s.get(s.url("/"))
	h.wants(t, messages.RobotsFetched)
	if h.CrawlDelay == nil || time.Duration(*h.CrawlDelay) != 2*time.Second {
		t.Errorf("crawl delay %v", h.CrawlDelay)
	}
}

func TestRobotsAndPageInOneTurnWithoutADelay(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	s.get(s.url("/")).wants(t, messages.OK)
	s.get(s.url("/special/ok")).wants(t, messages.OK)
	if got := paths(s.web); got != "/robots.txt / /special/ok" {
		t.Errorf("the host was asked for %s", got)
	}
}

func TestRobotsDenies(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	h := s.get(s.url("/private/x"))
	h.wants(t, messages.RobotsDenied)
	if h.Error != "robots.txt: Disallow: /private/" || h.CrawlDelay == nil {
		t.Errorf("error %q, crawl delay %v", h.Error, h.CrawlDelay)
	}
	s.get(s.url("/private/open/x")).wants(t, messages.Gone)
	if n := s.web.Count(0, "/private/x"); n != 0 {
		t.Error("the page was asked for")
	}
}

func TestRobotsIsSharedThroughTheBucket(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	s.handle1(delayed(s.url("/")), 1).wants(t, messages.RobotsFetched)
	other, err := New(DefaultConfig(), s.bus, s.specs)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.client.Close)
	second := *s
	second.Fetcher = other
	second.handle1(delayed(s.url("/")), 1).wants(t, messages.OK)
	second.get(s.url("/private/")).wants(t, messages.RobotsDenied)
	if n := s.web.Count(0, "/robots.txt"); n != 1 {
		t.Errorf("robots.txt was fetched %d times", n)
	}
}

func TestStatusOfRobots(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]messages.Class{
		200: messages.RobotsDenied, 204: messages.OK, 304: messages.OK, 401: messages.OK, 403: messages.OK,
		404: messages.OK, 408: messages.OK, 410: messages.OK, 429: messages.Throttled, 500: messages.ServerError,
		503: messages.Throttled, 999: messages.ProtocolError,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s := newFetcherFixture(t)
			s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "9")
				w.WriteHeader(status)
				if status == 200 {
					_, _ = w.Write([]byte("User-agent: seine\nDisallow: /\n"))
				}
			})
			h := s.get(s.url("/"))
			h.wants(t, want)
			retry := time.Duration(0)
			if want == messages.Throttled {
				retry = 9 * time.Second
			}
			if time.Duration(h.RetryAfter) != retry {
				t.Errorf("retry after %s", time.Duration(h.RetryAfter))
			}
			if want == messages.OK {
				return
			}
			if n := s.web.Count(0, "/"); n != 0 {
				t.Error("the page was asked for")
			}
			if known := h.CrawlDelay != nil; known != (want == messages.RobotsDenied) {
				t.Errorf("crawl delay %v", h.CrawlDelay)
			}
		})
	}
}

func TestRobotsThatFailedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	s.web.SetHostDown(0, true)
	h := s.get(s.url("/"))
	h.wants(t, messages.ConnectFailure)
	if !strings.HasPrefix(h.Error, "robots.txt: ") || h.CrawlDelay != nil {
		t.Errorf("error %q, crawl delay %v", h.Error, h.CrawlDelay)
	}
	s.web.SetHostDown(0, false)
	s.get(s.url("/")).wants(t, messages.OK)
}

func TestRedirectsOfRobots(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	hops := 0 // set only between requests
	s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", fmt.Sprintf("/hop?left=%d", hops-1))
		w.WriteHeader(http.StatusFound)
	})
	s.web.Handle(0, "/hop", func(w http.ResponseWriter, r *http.Request) {
		left := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("left"), &left)
		if left == 0 {
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
			return
		}
		w.Header().Set("Location", fmt.Sprintf("/hop?left=%d", left-1))
		w.WriteHeader(http.StatusMovedPermanently)
	})
	for n, want := range map[int]messages.Class{1: messages.RobotsDenied, 5: messages.RobotsDenied, 6: messages.OK} {
		hops = n
		turn := s.newJob(request(s.url("/special/ok")), s.spec())
		if s.lacks(turn) {
			t.Fatal(turn.reply.Text)
		}
		a := turn.ask
		e, _, err := s.robots.fetch(t.Context(), strings.TrimSuffix(s.url(""), "/"), &a)
		if err != nil || e == nil {
			t.Fatalf("%d hops: %v, %v", n, e, err)
		}
		if denied := len(e.Body) > 0; denied != (want == messages.RobotsDenied) {
			t.Errorf("%d hops: body %q", n, e.Body)
		}
	}
}

// slowRedirect is a host that responds slowly, and redirects at first.
type slowRedirect struct{ asked, answered []time.Time }

func (s *slowRedirect) Do(_ context.Context, a *httpclient.Request) (*httpclient.Reply, error) {
	s.asked = append(s.asked, time.Now())
	time.Sleep(3 * time.Second) // in a synctest bubble: the delay must begin at its end
	s.answered = append(s.answered, time.Now())
	if len(s.asked) > 1 {
		return &httpclient.Reply{URL: a.URL, Class: messages.OK}, nil
	}
	return &httpclient.Reply{URL: a.URL, Class: messages.Redirect, Header: http.Header{"Location": {"/there"}}}, nil
}

func TestHostRestsBetweenTheRedirectsOfItsRobots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := new(slowRedirect)
		robots := robotsCache{host: host}
		e, _, err := robots.fetch(t.Context(), "https://a.test", &httpclient.Request{Spacing: 5 * time.Second})
		if err != nil || e == nil || len(host.asked) != 2 {
			t.Fatalf("asked %d times: %v, %v", len(host.asked), e, err)
		}
		if rest := host.asked[1].Sub(host.answered[0]); rest != 5*time.Second {
			t.Errorf("rested for %s, the delay is 5s", rest)
		}
	})
}

// The host was requested, and its delay applies, although the page is refused.
func TestRobotsThatLeadToARefusedAddress(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://224.0.0.1/", http.StatusFound)
	})
	h := s.get(s.url("/"))
	if h.wants(t, messages.RefusedAddress); h.IP == "" || h.BytesWire == 0 {
		t.Errorf("the result does not tell that the host was asked: %+v", h.Result)
	}
}

func TestRobotsIsCutAndOnlyOnceInFlight(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	var asked atomic.Int64
	release := make(chan struct{})
	s.web.Handle(0, "/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-release
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /no\n" + strings.Repeat("# filler\n", 1<<17) + "Disallow: /\n"))
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { s.get(s.url("/special/ok")).wants(t, messages.OK) })
	}
	close(release)
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("robots.txt was asked for %d times", n)
	}
	s.get(s.url("/no")).wants(t, messages.RobotsDenied)
}

func TestRedeliveredRequestWaits(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	answerWanted(t, s.bus, true)
	began := time.Now()
	s.handle1(delayed(s.url("/")), 2).wants(t, messages.OK)
	if took := time.Since(began); took < time.Duration(someDelay) {
		t.Errorf("fetched after %s, the delay is %s", took, time.Duration(someDelay))
	}
}

// A worker may die between its result and its acknowledgement: a redelivered request that has a
// result must not reach the host.
func TestRedeliveredRequestWithAResultIsDropped(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	answerWanted(t, s.bus, false)
	m := &stages.Message{Data: request(s.url("/")).Encode(), Deliveries: 2, Stored: time.Now()}
	out, err := s.handle(t.Context(), m)
	if err != nil || len(out.Messages()) > 0 {
		t.Errorf("handled to %v, %v; want nothing", out, err)
	}
	if n := len(s.web.Requests()); n > 0 {
		t.Errorf("the host saw %d requests, want none", n)
	}
}

func TestRequestsToAHostAreADelayApart(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	began := time.Now()
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() { s.handle1(delayed(s.url(fmt.Sprintf("/special/ok?n=%d", n))), 1) })
	}
	wg.Wait()
	s.handle1(delayed(s.url("/special/ok")), 1).wants(t, messages.OK)
	// A busy machine may see the first one late, but none before the total delay since the
	// beginning.
	all := s.web.Requests()
	if took := all[len(all)-1].At.Sub(began); took < time.Duration(len(all)-1)*time.Duration(someDelay) {
		t.Errorf("%d requests in %s, the delay is %s", len(all), took, time.Duration(someDelay))
	}
}
