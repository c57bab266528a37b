package render

import (
	"context"
	"errors"
	"time"
)

// cut takes the page as it is when its time is over, and marks it as cut. A browser that hangs, or that gets no time to run, has made
// nothing of the document yet, or the half of it. So a page that has not been parsed to its end gets some more time for that. After
// it, the half is the page only where that waits for something that it has asked for: a script of a host that does not answer. Else it fails.
func (v *visit) cut(p *Page) error {
	if p.Cut == "" {
		p.Cut = "the page was not complete within " + v.job.How.Timeout.String()
	}
	v.endLongScript(v.ctx, commandTime)
	if !(navigation{v}).isRead() {
		v.proxy.FailPending() // what the document may wait for
	}
	ctx, cancel := context.WithTimeout(v.ctx, snapTime)
	defer cancel()
	err := v.await(ctx, eventDOM)
	if err == nil || errors.Is(err, errBrowserGone) || v.ctx.Err() != nil {
		return err
	}
	if v.isShown() && !v.proxy.QuietSince(time.Now()) {
		return nil
	}
	return &Error{NoAnswer, "the browser has not read the document within " + v.job.How.Timeout.String() + " and " + snapTime.String() + ": it hangs, or a script of the page never ends"}
}

// isShown reports whether the document has taken the place of the page before.
func (v *visit) isShown() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reached["init"]
}
