package fetcher

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher/httpclient"
)

// doubtful makes stored messages suspect when a request is on its way to the host, as if the
// process had stalled, or lost its connection to NATS.
type doubtful struct {
	exchanger
	bus  *stages.Bus
	at   int // index of the request, 0 for the first
	asks int
}

func (d *doubtful) Do(ctx context.Context, a *httpclient.Request) (*httpclient.Reply, error) {
	if d.asks++; d.asks == max(1, d.at) {
		d.bus.MarkStale()
	}
	return d.exchanger.Do(ctx, a)
}

func TestRequestThatBecomesSuspectOnItsWayIsNotSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		warm, wanted bool
		requests     int
	}{
		"the result is known by now":    {requests: 0},
		"over a connection used before": {warm: true, requests: 1},
		"it is still to be done":        {warm: true, wanted: true, requests: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFetcherFixture(t, ignoreRobots)
			answerWanted(t, s.bus, c.wanted)
			if c.warm {
				s.handle1(request(s.url("/special/ok")), 1).wants(t, messages.OK)
			}
			s.Fetcher.get = &doubtful{exchanger: s.Fetcher.get, bus: s.bus}
			m := &stages.Message{Data: request(s.url("/")).Encode(), Deliveries: 1, Stored: time.Now()}
			out, err := s.handle(t.Context(), m)
			if err != nil || c.wanted != (len(out.Messages()) > 0) {
				t.Errorf("handled to %v, %v", out, err)
			}
			if out.Free != nil {
				out.Free()
			}
			if n := len(s.web.Requests()); n != c.requests {
				t.Errorf("the host saw %d requests, want %d", n, c.requests)
			}
		})
	}
}

func TestRequestThatComesTwiceWaitsForItsResult(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t, ignoreRobots)
	answerWanted(t, s.bus, false)
	m := stages.Message{Data: request(s.url("/")).Encode(), Deliveries: 1, Stored: time.Now()}
	out, err := s.handle(t.Context(), &m)
	if err != nil || out.Free == nil {
		t.Fatalf("handled to %v, %v", out, err)
	}
	again := m
	again.Deliveries = 2
	done := make(chan stages.Output, 1)
	go func() {
		out, err := s.handle(t.Context(), &again)
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	select {
	case <-done:
		t.Error("it was handled again before the result of the first time was stored")
	case <-time.After(200 * time.Millisecond): // in which it would have been
	}
	out.Free()
	if out := <-done; len(out.Messages()) > 0 || len(s.web.Requests()) != 1 {
		t.Errorf("handled again to %v, with %d requests", out, len(s.web.Requests()))
	}
}

// After a restart, everything in FETCH is suspect. No other process can have begun it since, so one
// delay is enough for all requests, whatever the number of workers.
func TestHostsRestOnceAfterThoseThatAreGone(t *testing.T) { // reads a metric
	s := newFetcherFixture(t, ignoreRobots)
	answerWanted(t, s.bus, true)
	s.bus.MarkStale()
	began, waited := time.Now(), secondsOf(t, waitRedelivery)
	s.handle1(delayed(s.url("/")), 1).wants(t, messages.OK)
	if took := time.Since(began); took < time.Duration(someDelay) {
		t.Errorf("fetched after %s, the delay is %s", took, time.Duration(someDelay))
	}
	rested := secondsOf(t, waitRedelivery)
	if rested == waited {
		t.Error("the first request did not wait")
	}
	s.handle1(delayed(s.url("/special/ok")), 1).wants(t, messages.OK)
	if secondsOf(t, waitRedelivery) != rested {
		t.Error("the second request waited again")
	}
}

func secondsOf(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}
