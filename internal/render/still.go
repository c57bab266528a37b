package render

import (
	"context"
	"errors"
	"time"

	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
)

// A page is still if this many checks, at this interval, find the same text and links, and only few
// requests in progress.
const (
	stillLooks    = 10
	shellLooks    = 20 // for a page that looks like an empty shell, or is not completely parsed
	stillInterval = 500 * time.Millisecond
	fewRequests   = 4
)

var errStill = errors.New("requests of the page did not end; its text and links had not changed for 5s or more")

// settleOrStill waits for the page like settle. It accepts a page that is still, and marks it as
// cut: some pages poll endlessly.
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

// watchStill cancels when the page is still. If the document is not completely parsed, it first
// fails pending requests, since parsing may wait for a script or style sheet.
func (a pageActions) watchStill(ctx context.Context, cancel context.CancelCauseFunc) {
	last, same := amount{}, 0
	for ; sleep.For(ctx, stillInterval) == nil; same++ {
		now := amount{}
		if a.evaluateInto(ctx, shownAmount, &now) != nil || now != last || a.requests.Busy() > fewRequests || !a.isShown() {
			last, same = now, 0
		}
		switch read := (navigation{a.visit}).isRead(); {
		case same >= shellLooks && !read:
			a.proxy.FailPending()
			same = 0
		case same >= shellLooks, same >= stillLooks && read && now.Filled:
			cancel(errStill)
			return
		}
	}
}
