package render

import (
	"context"
	"strconv"
	"time"

	"seine/internal/base/sleep"
)

// idleTime is how long no request may be in progress before a page counts as idle, as for Puppeteer
// and Playwright.
const idleTime = 500 * time.Millisecond

// On a busy machine pages act late. So a page counts as idle only if it stays idle for several
// waits.
const (
	lateFactor = 1.5 // factor from which a wait in the page means a busy machine
	maxLate    = 4   // additional waits
)

// idle waits until the page had no operation in progress for d. The time passes in the page, whose
// timers run in order: earlier timers have run, however slow the page is.
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

// quiet waits until no request is in progress, according to the proxy and to the page.
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

// transitTime is how long a request may take between the page and the proxy, or a response back.
// Pages do not report the end of some requests.
const transitTime = 5 * time.Second

// pause lets time pass in the page, and then two frames: a page reacts to something that comes into
// view after the first one. A page without running scripts, since it is about to be replaced, lets
// the time pass here.
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

// framesTime is how long to wait for a page to draw two frames. A page whose navigation was
// cancelled draws none.
const framesTime = 2 * time.Second

// milliseconds returns a duration for scripts.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// pauseFactor bounds the duration of a wait in the page, as a multiple of the requested time: a
// page may replace the timers by its own, which may never fire.
const pauseFactor = 10

// isLeaving reports whether the page has begun to navigate elsewhere, with an unknown result.
func (v *visit) isLeaving() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.leaving
}
