package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// mix is a hash of a number: the output function of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// web computes the simulated web: nothing of it is in memory.
type web struct{ options }

// fresh is how many new URLs a page brings; the other half of its links are
// repeats.
func (w *web) fresh() int { return w.links / 2 }

// host returns the host of URL i: that of the page that brings it, or any.
func (w *web) host(i int) int {
	r := mix(uint64(i))
	if w.uniform || r%5 == 0 {
		return int(r / 5 % uint64(w.hosts))
	}
	return int(mix(uint64(i/w.fresh())<<1|1) % uint64(w.hosts))
}

func (w *web) url(i int) string {
	return "https://h" + strconv.Itoa(w.host(i)) + ".test/articles/page-" + strconv.Itoa(i) + ".html"
}

// page returns the links of page k as the parser would publish them: one
// message for each partition that they lead to.
func (w *web) page(k int) []*nats.Msg {
	first := k * w.fresh()
	byPartition := make(map[int][]messages.Candidate)
	add := func(i int) {
		u := w.url(i)
		p := messages.Partition(u, w.partitions)
		byPartition[p] = append(byPartition[p], messages.Candidate{URL: u})
	}
	for n := range w.fresh() {
		i := first + n
		if i < w.urls {
			add(i)
		}
		if i == 0 {
			continue
		}
		back := mix(uint64(i) ^ 0xABCD)
		span := uint64(i)
		if back&1 == 0 { // half of the repeats are of URLs found lately
			span = min(span, 100_000)
		}
		if again := i - 1 - int(back>>1%span); again < w.urls {
			add(again)
		}
	}
	var out []*nats.Msg
	for p, urls := range byPartition {
		c := messages.Candidates{Crawl: crawlName, Source: messages.SourceLink, Referrer: w.url(first), Depth: 1 + k%8, URLs: urls}
		out = append(out, &nats.Msg{Subject: messages.SubjectURLs(crawlName, p), Data: c.Encode()})
	}
	return out
}

// inject publishes all pages and prints how they are taken.
func (m *machine) inject(ctx context.Context) error {
	w := &web{m.options}
	g, ctx := errgroup.WithContext(ctx)
	pages := make(chan int, 64)
	g.Go(func() error {
		defer close(pages)
		for k := range (w.urls + w.fresh() - 1) / w.fresh() {
			select {
			case pages <- k:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range 2 {
		g.Go(func() error { return m.publish(ctx, w, pages) })
	}
	g.Go(func() error { return m.watch(ctx) })
	return g.Wait()
}

// publishBatch is how many messages are on their way at once.
const publishBatch = 256

func (m *machine) publish(ctx context.Context, w *web, pages <-chan int) error {
	pub := stages.NewPublisher(m.bus, "bench")
	var batch []*nats.Msg
	for k := range pages {
		batch = append(batch, w.page(k)...)
		if len(batch) >= publishBatch {
			if err := pub.Publish(ctx, batch...); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return pub.Publish(ctx, batch...)
}

// watch prints a line for every so many distinct URLs taken, until all are.
func (m *machine) watch(ctx context.Context) error {
	fmt.Println("| distinct URLs | candidates/s | RSS MB | peak MB | disk B/URL | filter: false of new | CPU s: frontier | nats-server |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|")
	last, err := m.measure()
	if err != nil {
		return err
	}
	next, profiled := float64(m.every), false
	for stages.Sleep(ctx, 100*time.Millisecond) == nil {
		now, err := m.measure()
		if err != nil {
			return err
		}
		if m.cpuProfile != "" && !profiled && now.queued >= float64(m.profileAt) {
			profiled = true
			go m.profile(m.cpuProfile, "profile?seconds=20")
		}
		if now.queued < min(next, float64(m.urls)) {
			continue
		}
		rate := (now.queued + now.known - last.queued - last.known) / now.at.Sub(last.at).Seconds()
		fmt.Printf("| %.0f | %.0f | %d | %d | %.0f | %.5f %% | %.1f | %.1f |\n", now.queued, rate, now.rss/1024, now.peak/1024,
			float64(now.disk)/now.queued, 100*now.falsely/now.queued, now.cpu-last.cpu, now.natsCPU-last.natsCPU)
		last, next = now, next+float64(m.every)
		if now.queued >= float64(m.urls) {
			if m.heapProfile != "" {
				m.profile(m.heapProfile, "heap")
			}
			return m.judge(now, rate)
		}
	}
	return ctx.Err()
}

func (m *machine) judge(f figures, rate float64) error {
	switch {
	case m.maxRSS > 0 && f.rss/1024 > int64(m.maxRSS):
		return fmt.Errorf("the frontier needs %d MB, more than %d", f.rss/1024, m.maxRSS)
	case m.minRate > 0 && rate < m.minRate:
		return fmt.Errorf("the frontier took %.0f candidates a second in the last step, fewer than %.0f", rate, m.minRate)
	}
	return nil
}

func (m *machine) profile(file, kind string) {
	text, err := m.get("/debug/pprof/" + kind)
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no profile:", err)
	}
}
