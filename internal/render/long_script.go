package render

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"seine/internal/base/sleep"
)

// scriptTime is how long a script of a page may run at a time. The layout of a document of 450,000
// nodes, which cannot be interrupted either, takes 8 s.
const scriptTime = 10 * time.Second

// resumeTime is how long a script may take after its pending requests have failed.
const resumeTime = 2 * time.Second

// watchScripts ends scripts that run for longer than scriptTime. The page keeps their effects until
// then.
func (v *visit) watchScripts(ctx context.Context) {
	for sleep.For(ctx, time.Second) == nil {
		v.endLongScript(ctx, scriptTime)
	}
}

// endLongScript unblocks a page that does not answer within d: it fails the requests that a script
// may wait for and, if that does not help, ends the script.
func (v *visit) endLongScript(ctx context.Context, d time.Duration) {
	if !v.hangs(ctx, d) {
		return
	}
	if !v.proxy.QuietSince(time.Now()) {
		v.proxy.FailPending()
		if !v.hangs(ctx, resumeTime) {
			return
		}
	}
	v.tab.do(runtime.TerminateExecution())
	v.mu.Lock()
	defer v.mu.Unlock()
	v.errors.Add(errLongScript.Error(), v.url)
	v.longScript = true
}

// hangs reports whether the page does not answer within d.
func (v *visit) hangs(ctx context.Context, d time.Duration) bool {
	within, cancel := context.WithTimeoutCause(ctx, d, errLongScript)
	defer cancel()
	_, _, err := runtime.Evaluate("0").Do(v.tab.within(within))
	return err != nil && errors.Is(context.Cause(within), errLongScript)
}

var errLongScript = errors.New("a script ran too long and was stopped")
