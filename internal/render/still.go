package render

import (
	"context"
	"errors"
	"time"

	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
)

// A page is still when so many looks, so long apart, find the same amount of text and links, and only few requests in progress.
const (
	stillLooks    = 10
	stillInterval = 500 * time.Millisecond
	fewRequests   = 4
)

var errStill = errors.New("requests of the page did not end; its text and links had not changed for 5s")

// settleOrStill waits for the page as settle does. One that is still is taken, and marked as cut: pages poll without an end.
func (a pageActions) settleOrStill(ctx context.Context, until crawlspec.RenderUntil) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if until == crawlspec.UntilIdle {
		go a.watchStill(within, cancel)
	}
	err := a.settle(within, until)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(within), errStill) {
		a.page.Cut, err = errStill.Error(), nil
	}
	return err
}

// watchStill cancels when the page is still. One that looks like an empty shell never is.
func (a pageActions) watchStill(ctx context.Context, cancel context.CancelCauseFunc) {
	if a.await(ctx, eventDOM) != nil {
		return
	}
	for last, same := 0, 0; sleep.For(ctx, stillInterval) == nil; same++ {
		now := 0
		if a.evaluateInto(ctx, shownAmount, &now) != nil || now != last || now == 0 || a.requests.Busy() > fewRequests {
			last, same = now, 0
		}
		if same == stillLooks {
			cancel(errStill)
			return
		}
	}
}
