package main

import (
	"context"
	"strings"
	"syscall"
	"time"

	"seine/internal/base/procfs"
	"seine/internal/base/sleep"
)

// browserFaults are those of browsers, whose renderers live.
func browserFaults() []fault {
	return []fault{
		{"kill browser", (*testbed).withBrowser, killBrowser, ""},
		{"kill page of browser", (*testbed).withBrowser, killPage, ""},
		{"hang browser", (*testbed).withBrowser, hangBrowser, ""},
		{"starve browser", (*testbed).withBrowser, starveBrowser, ""},
	}
}

// chosen is one of some, by a number from 0 up to 1; 0 of none.
func chosen(pids []int, by float64) int {
	if len(pids) == 0 {
		return 0
	}
	return pids[int(by*float64(len(pids)))]
}

// browserNow is the main process of a browser of the victim, 0 if it has none any more.
func (r *testbed) browserNow(victim string, d draw) int {
	return chosen(r.browsersOf(strings.TrimPrefix(victim, browserOf)), d.b)
}

// killBrowser kills the main process of a browser.
func killBrowser(_ context.Context, r *testbed, victim string, d draw) {
	browser := r.browserNow(victim, d)
	r.strike(victim, browser, browser, syscall.SIGKILL)
}

// killPage kills a process that has pages.
func killPage(_ context.Context, r *testbed, victim string, d draw) {
	browser := r.browserNow(victim, d)
	r.strike(victim, chosen(pagesOf(browser), d.a), browser, syscall.SIGKILL)
}

// strike sends a signal to a process of a browser.
func (r *testbed) strike(victim string, pid, browser int, s syscall.Signal) *held {
	p := hold(pid, browser)
	if p == nil {
		r.tell.Note("%s has no such process any more", victim)
		return nil
	}
	if err := p.Signal(s); err != nil {
		r.tell.Note("%s: %v: %v", victim, s, err)
	}
	return p
}

// shortestHang is shorter than a page may take.
const shortestHang = 2 * time.Second

// hangBrowser freezes a browser for a while, or one of its processes that have pages.
func hangBrowser(ctx context.Context, r *testbed, victim string, d draw) {
	browser := r.browserNow(victim, d)
	pid, what := browser, "main process"
	if pages := pagesOf(browser); d.a < 0.5 && len(pages) > 0 {
		pid, what = chosen(pages, 2*d.a), "page"
	}
	p := r.strike(victim, pid, browser, syscall.SIGSTOP)
	if p == nil {
		return
	}
	r.tell.Note("%s hangs: %s", victim, what)
	_ = sleep.For(ctx, d.between(shortestHang, longest))
	_ = p.Signal(syscall.SIGCONT)
}

// How a browser starves: in turns, of each of which it has from 5 to 10 % on a core.
const (
	starveTurn    = 100 * time.Millisecond
	longestStarve = 20 * time.Second
)

// starveBrowser lets all processes of a browser run for a small part of the time only.
func starveBrowser(ctx context.Context, r *testbed, victim string, d draw) {
	browser := r.browserNow(victim, d)
	if browser == 0 {
		r.tell.Note("%s has no such process any more", victim)
		return
	}
	run := time.Duration((0.05 + 0.05*d.a) * float64(starveTurn))
	end := time.Now().Add(d.between(shortestHang, longestStarve))
	for ctx.Err() == nil && time.Now().Before(end) {
		if !starveTurns(ctx, browser, run) {
			return
		}
	}
}

// starveTurns gives the processes that a browser has now a second's turns, and lets them run then. It reports whether there
// were any.
func starveTurns(ctx context.Context, browser int, run time.Duration) bool {
	var all []*held
	for _, pid := range procfs.InGroup(browser) {
		if p := hold(pid, browser); p != nil {
			all = append(all, p)
			defer func() { _ = p.Release() }()
		}
	}
	for range time.Second / starveTurn {
		signalAll(all, syscall.SIGSTOP)
		_ = sleep.For(ctx, starveTurn-run)
		signalAll(all, syscall.SIGCONT)
		if sleep.For(ctx, run) != nil {
			break
		}
	}
	return len(all) > 0
}

func signalAll(all []*held, s syscall.Signal) {
	for _, p := range all {
		_ = p.Signal(s)
	}
}
