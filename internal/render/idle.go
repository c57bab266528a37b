package render

import (
	"context"
	"strconv"
	"time"

	"seine/internal/base/sleep"
)

// idleTime is for how long no request may be under way until a page counts as idle, as for Puppeteer and Playwright.
const idleTime = 500 * time.Millisecond

// Where a machine is busy, what a page is about to do comes late, and it is idle only if it stays so a few times.
const (
	lateFactor = 1.5 // how much longer than asked for a wait in the page takes on a busy machine
	maxLate    = 4   // waits more
)

// idle waits until nothing of the page was under way for d. The time passes in the page, whose timers run in their order: what was
// to happen there earlier has happened, however slow the page is.
func (v *visit) idle(ctx context.Context, d time.Duration) error {
	for late := 0; ; {
		if err := v.proxy.AwaitQuiet(ctx); err != nil {
			return err
		}
		began := time.Now()
		if err := v.pause(ctx, d); err != nil {
			return err
		}
		switch took := time.Since(began); {
		case v.isLeaving(), !v.proxy.QuietSince(began):
		case took > time.Duration(lateFactor*float64(d)) && late < maxLate:
			late++
		default:
			return nil
		}
	}
}

// pause lets time pass in the page. A page that has no scripts any more, since it is about to be another, lets it pass here.
func (v *visit) pause(ctx context.Context, d time.Duration) error {
	within, cancel := context.WithTimeout(ctx, pauseFactor*d+time.Second)
	defer cancel()
	script := "await new Promise(done => setTimeout(done, " + strconv.FormatInt(d.Milliseconds(), 10) + "))"
	if _, err := v.tab.evaluate(within, script); err == nil || within.Err() != nil {
		return context.Cause(ctx)
	}
	return sleep.For(ctx, d)
}

// pauseFactor is how much longer than asked for a wait in the page may take: it may have timers of its own making, which never fire.
const pauseFactor = 10

// isLeaving reports whether the page has begun to lead elsewhere, and it is not known whether it comes to that.
func (v *visit) isLeaving() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.leaving
}
