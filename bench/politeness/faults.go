package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/testing/testweb"
)

// The hosts that misbehave, before those that are well.
var faulty = []struct {
	what string
	make func(w *testweb.Web, host int)
}{
	{"429, Retry-After 30", refuse(429, 1, func(time.Time) string { return "30" })},
	{"429, Retry-After a date in 30 s", refuse(429, 1, func(now time.Time) string { return now.Add(30 * time.Second).Format(http.TimeFormat) })},
	{"429, Retry-After 99999999999999999999", refuse(429, 1, func(time.Time) string { return "99999999999999999999" })},
	{"429 twice, Retry-After -5", refuse(429, 2, func(time.Time) string { return "-5" })},
	{"503 four times, Retry-After 1", refuse(503, 4, func(time.Time) string { return "1" })},
	{"503 six times, no Retry-After", refuse(503, 6, func(time.Time) string { return "" })},
	{"dead for 2 min", func(w *testweb.Web, host int) {
		w.SetHostDown(host, true)
		time.AfterFunc(2*time.Minute, func() { w.SetHostDown(host, false) })
	}},
	{"answers in 20 s", func(*testweb.Web, int) {}}, // from the start: see faults
}

// refuse answers the next requests with a status.
func refuse(status, times int, retryAfter func(time.Time) string) func(*testweb.Web, int) {
	return func(w *testweb.Web, host int) {
		var n atomic.Int64
		w.HandleHost(host, func(rw http.ResponseWriter, _ *http.Request) bool {
			if n.Add(1) > int64(times) {
				return false
			}
			now := time.Now().UTC()
			rw.Header().Set("Date", now.Format(http.TimeFormat))
			if text := retryAfter(now); text != "" {
				rw.Header().Set("Retry-After", text)
			}
			rw.WriteHeader(status)
			return true
		})
	}
}

const (
	calmTime   = 30 * time.Second // before the faults
	faultyTime = 4 * time.Minute  // since
)

// faults shows what hosts that misbehave see, and that the others see nothing of it.
func (b *bench) faults(ctx context.Context) error {
	b.Hosts = max(b.Hosts, len(faulty)+1)
	web, server, err := startWeb(&b.options, b.Warmup+calmTime+faultyTime)
	if err != nil {
		return err
	}
	defer server.Close()
	web.HandleHost(len(faulty)-1, func(_ http.ResponseWriter, r *http.Request) bool {
		_ = sleep.For(r.Context(), 20*time.Second)
		return false
	})
	c, _, err := b.begin(ctx, server)
	if err != nil {
		return err
	}
	defer c.Close(false)
	if err := sleep.For(ctx, b.Warmup+calmTime); err != nil {
		return err
	}
	calm := time.Now()
	for h, f := range faulty {
		f.make(web, h)
	}
	if err := sleep.For(ctx, 10*time.Second); err != nil {
		return err
	}
	for h, f := range faulty {
		text, err := c.Explain(ctx, server.URL(h, "/"))
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "after 10 s, explain says of %q: %s\n", f.what, waitsFor(text))
	}
	if err := sleep.For(ctx, faultyTime-time.Since(calm)); err != nil {
		return err
	}
	end := time.Now()

	byHost := perHost(web.Requests())
	fmt.Println("| host | seconds from each answer to the next request, by status | requests |")
	fmt.Println("|---|---|---:|")
	for h, f := range faulty {
		rs := byHost[web.Name(h)]
		fmt.Printf("| %s | %s | %d |\n", f.what, gapsSince(rs, calm), len(rs))
	}
	before, after, violations := 0, 0, 0
	for h := len(faulty); h < b.Hosts; h++ {
		n, _ := tooClose(byHost[web.Name(h)], b.Delay, calm)
		violations += n
		for _, r := range byHost[web.Name(h)] {
			switch {
			case r.At.After(calm) && r.At.Before(end):
				after++
			case r.At.After(calm.Add(-calmTime)) && r.At.Before(calm):
				before++
			}
		}
	}
	others := float64(b.Hosts - len(faulty))
	fmt.Printf("\n%.0f hosts that are well: %.3f requests/s each before, %.3f since; %d gaps too short\n", others,
		float64(before)/calmTime.Seconds()/others, float64(after)/end.Sub(calm).Seconds()/others, violations)
	return nil
}

// waitsFor is what an explanation says of the host.
func waitsFor(text string) string {
	var e struct {
		Host struct {
			Why    string `json:"why"`
			NextMS int64  `json:"next_ms"`
		} `json:"host"`
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return text
	}
	return fmt.Sprintf("%q, next in %v", e.Host.Why, time.Until(time.UnixMilli(e.Host.NextMS)).Round(time.Second))
}

// gapsSince lists the gaps around and after a moment, as many as are of interest.
func gapsSince(rs []testweb.Request, from time.Time) string {
	var b strings.Builder
	n := 0
	for i := range len(rs) - 1 {
		if rs[i].End.Before(from) && rs[i+1].At.Before(from) {
			continue
		}
		if n++; n > 24 {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " %d:%.2f", rs[i].Status, testweb.MinGap(rs[i:i+2]).Seconds())
	}
	return strings.TrimSpace(b.String())
}
