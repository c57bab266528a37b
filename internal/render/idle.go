package render

import (
	"context"
	"strconv"
	"time"

	"seine/internal/base/sleep"
)

// idleTime is for how long no request may be in progress until a page counts as idle, as for Puppeteer and Playwright.
const idleTime = 500 * time.Millisecond

// Where a machine is busy, what a page is about to do comes late, and it is idle only if it stays so a few times.
const (
	lateFactor = 1.5 // how much longer than asked for a wait in the page takes on a busy machine
	maxLate    = 4   // waits more
)

// idle waits until nothing of the page was in progress for d. The time passes in the page, whose timers run in their order: what was
// to happen there earlier has happened, however slow the page is.
func (v *visit) idle(ctx context.Context, d time.Duration) error {
	for late := 0; ; {
		if err := v.quiet(ctx); err != nil {
			return err
		}
		began := time.Now()
		if err := v.pause(ctx, d); err != nil {
			return err
		}
		switch took := time.Since(began); {
		case v.isLeaving(), !v.isQuiet(began):
		case (took > time.Duration(lateFactor*float64(d)) || !v.requests.QuietSince(began)) && late < maxLate:
			late++
		default:
			return nil
		}
	}
}

// quiet waits until no request is in progress, by what the proxy knows of them and by what the page does.
func (v *visit) quiet(ctx context.Context) error {
	for {
		if err := v.proxy.AwaitQuiet(ctx); err != nil {
			return err
		}
		began := time.Now()
		within, cancel := context.WithTimeout(ctx, transitTime)
		stuck := v.requests.AwaitQuiet(within)
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !v.proxy.QuietSince(began) {
			continue
		}
		if stuck != nil {
			v.requests.giveUp()
		}
		return nil
	}
}

// isQuiet reports whether no request is in progress, and the proxy has had none since a time.
func (v *visit) isQuiet(since time.Time) bool {
	return v.requests.QuietSince(time.Now()) && v.proxy.QuietSince(since)
}

// transitTime is how long a request may take between the page and the proxy, or an answer back. Of some requests a page reports
// no end.
const transitTime = 5 * time.Second

// pause lets time pass in the page, and then two frames: what a page does when something comes into view, it does behind the first. A
// page that has no scripts any more, since it is about to be another, lets the time pass here.
func (v *visit) pause(ctx context.Context, d time.Duration) error {
	within, cancel := context.WithTimeout(ctx, pauseFactor*d+time.Second)
	defer cancel()
	const wait = "(window.seine?.wait ?? setTimeout)"
	frames := wait + "(done, " + milliseconds(framesTime) + "); requestAnimationFrame(() => requestAnimationFrame(() => done(true)))"
	if v.frameless {
		frames = "done(true)"
	}
	drawn, err := v.tab.evaluate(within, "await new Promise(done => "+wait+"(() => { "+frames+" }, "+milliseconds(d)+"))")
	if err == nil || within.Err() != nil {
		v.frameless = v.frameless || !drawn
		return context.Cause(ctx)
	}
	return sleep.For(ctx, d)
}

// framesTime is how long a page is waited for to draw two frames. One draws none that has begun to lead elsewhere and was kept from it.
const framesTime = 2 * time.Second

// milliseconds writes a duration as scripts take it.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// pauseFactor is how much longer than asked for a wait in the page may take: it may have timers of its own making, which never fire.
const pauseFactor = 10

// isLeaving reports whether the page has begun to lead elsewhere, and it is not known whether it comes to that.
func (v *visit) isLeaving() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.leaving
}
