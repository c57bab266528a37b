package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// asks is how often each list is asked for: in parts, one behind the other, as long as there are any.
const asks = 10

// lists measures how long `seine serve` takes for its lists and pages when there is so much to list, and what it and
// the frontier need for that.
func (m *testbed) lists(ctx context.Context, w *web) error {
	if err := m.bury(ctx, w); err != nil {
		return err
	}
	if err := m.serve(ctx); err != nil {
		return err
	}
	before, err := m.costs()
	if err != nil {
		return err
	}
	crawlPath, aURL := "/crawls/"+crawl, url.QueryEscape(w.url(w.urls/2))
	host := url.PathEscape(strings.Trim(strings.TrimPrefix(hostURL(w.hostOf(w.urls/2)), "https:"), "/"))
	fmt.Printf("\n%d dead letters\n\n| asked for | answers | p50 ms | longest ms | KB |\n|---|---:|---:|---:|---:|\n", m.Dead)
	for _, path := range []string{
		"/", "/crawls", crawlPath, "/hosts", "/hosts/" + host, "/errors?crawl=" + crawl, "/dead", "/dead?crawl=" + crawl + "&reason=nothing",
		"/explain?crawl=" + crawl + "&url=" + aURL, "/processes",
		"/api/v1/stats", "/api/v1" + crawlPath, "/api/v1/hosts?limit=1000", "/api/v1/hosts/" + host, "/api/v1" + crawlPath + "/failures",
		"/api/v1" + crawlPath + "/explain?brief=true&url=" + aURL, "/api/v1/dead-letters", "/api/v1/dead-letters?reason=nothing", "/api/v1/dead-letters/count",
	} {
		if err := m.ask(ctx, path); err != nil {
			return err
		}
	}
	after, err := m.costs()
	if err != nil {
		return err
	}
	rss, peak, err := proc.Memory(m.server.PID())
	fmt.Printf("\nRSS: serve %.0f MB, at most %.0f; frontier %.0f MB before, %.0f after, at most %.0f\n",
		proc.MB(rss), proc.MB(peak), proc.MB(before.rss), proc.MB(after.rss), proc.MB(after.peak))
	return err
}

// bury publishes dead letters, as a parser would that cannot read a page of each URL.
func (m *testbed) bury(ctx context.Context, w *web) error {
	pub := stages.NewPublisher(m.bus, "bench")
	var msgs []*nats.Msg
	for i := range m.Dead {
		d := messages.Dead{
			Stage: messages.StageParser, Crawl: crawl, Reason: fmt.Sprintf("line %d: it cannot be read", i%100), Subject: "seine.pages." + crawl + ".0",
			Stream: messages.StreamPages, Sequence: uint64(i + 1), Tries: 5, Time: time.Now(),
			Payload: messages.Encode(map[string]string{"url": w.url(i % w.urls)}),
		}
		if msgs = append(msgs, d.Msg()); len(msgs) >= publishBatch || i == m.Dead-1 {
			if err := pub.Publish(ctx, msgs...); err != nil {
				return fmt.Errorf("publish dead letters: %w", err)
			}
			msgs = msgs[:0]
		}
	}
	return nil
}

// serve starts the server, and waits until it knows the crawl.
func (m *testbed) serve(ctx context.Context) error {
	bin, err := proc.Build(ctx, m.work, "seine")
	if err != nil {
		return err
	}
	ports, err := proc.FreePorts(1)
	if err != nil {
		return err
	}
	m.pages = "http://127.0.0.1:" + ports[0]
	m.server, err = proc.Start(m.fail, m.work, filepath.Join(bin, "seine"), "serve", "--nats", m.bus.NC.ConnectedUrl(),
		"--state", filepath.Join(m.work, "serve"), "--listen", "127.0.0.1:"+ports[0])
	if err != nil {
		return err
	}
	return proc.Await(ctx, m.pages+"/api/v1/crawls/"+crawl)
}

// ask asks for a list from its beginning, part by part, and prints how long that takes.
func (m *testbed) ask(ctx context.Context, path string) error {
	var took []time.Duration
	most, next := 0, ""
	for range asks {
		at := m.pages + path
		if next != "" {
			u, err := url.Parse(at)
			if err != nil {
				return fmt.Errorf("path %s: %w", path, err)
			}
			q := u.Query()
			q.Set("cursor", next)
			u.RawQuery = q.Encode()
			at = u.String()
		}
		began := time.Now()
		text, err := proc.Get(ctx, at)
		if err != nil {
			return err
		}
		took, most = append(took, time.Since(began)), max(most, len(text))
		var part struct{ Next string }
		if strings.HasPrefix(path, "/api/") {
			if err := json.Unmarshal(text, &part); err != nil {
				return errors.Join(fmt.Errorf("answer to %s", path), err)
			}
		}
		next = part.Next
		if err := sleep.For(ctx, 1100*time.Millisecond); err != nil { // equal questions share an answer for 1 s
			return err
		}
	}
	slices.Sort(took)
	fmt.Printf("| %s | %d | %.1f | %.1f | %.0f |\n", path, len(took), ms(took[len(took)/2]), ms(took[len(took)-1]), float64(most)/1e3)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
