package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/weburl"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
)

// tracer hears what the stages say to each other, at the time the broker passes it on.
type tracer struct {
	mu      sync.Mutex
	results map[string]time.Time // by URL without its port: the first of it
	fetches map[string]time.Time // the last
}

func startTracer(nc *nats.Conn) (*tracer, error) {
	t := &tracer{results: make(map[string]time.Time), fetches: make(map[string]time.Time)}
	note := func(in map[string]time.Time, url string) {
		at := time.Now()
		t.mu.Lock()
		in[weburl.Hostname(url)+weburl.Path(url)] = at
		t.mu.Unlock()
	}
	_, err := nc.Subscribe("seine.results.>", func(m *nats.Msg) {
		parts, _ := messages.SplitBatch(m.Header, m.Data)
		for _, part := range parts {
			if r, err := messages.DecodeResult(part.Data); err == nil {
				note(t.results, r.URL)
			}
		}
	})
	if err == nil {
		_, err = nc.Subscribe("seine.fetch.>", func(m *nats.Msg) {
			if r, err := messages.DecodeRequest(m.Data); err == nil {
				note(t.fetches, r.URL)
			}
		})
	}
	if err != nil {
		return nil, fmt.Errorf("watch the streams: %w", err)
	}
	return t, nil
}

// report splits the time from a response to the next request at what was heard in between.
func (t *tracer) report(w io.Writer, byHost map[string][]testweb.Request, from, to time.Time, delay time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var result, fetch, start []time.Duration
	for host, rs := range byHost {
		for i := 1; i < len(rs); i++ {
			before, after := rs[i-1], rs[i]
			if before.At.Before(from) || after.At.After(to) {
				continue
			}
			r, f := t.results[host+before.Path], t.fetches[host+after.Path]
			if r.IsZero() || f.IsZero() {
				continue
			}
			result = append(result, r.Sub(before.End))
			fetch = append(fetch, f.Sub(r)-delay)
			start = append(start, after.At.Sub(f))
		}
	}
	fmt.Fprintf(w, "of %d turns, p50 / p90 / p99 / max ms:\n", len(start))
	fmt.Fprintf(w, "  response → its result in NATS          %s\n", quantiles(result))
	fmt.Fprintf(w, "  result → next request in NATS, - delay %s\n", quantiles(fetch))
	fmt.Fprintf(w, "  request in NATS → at the host          %s\n", quantiles(start))
}
