package render

import (
	"context"
	"errors"
	"time"
)

// cut takes the page in its current state when its time is over, and marks it as cut. A browser
// that hangs or gets no CPU time may have parsed none or only half of the document. So a page that
// is not completely parsed gets more time for that. After that, half a page is accepted only if the
// document waits for something that it has requested, such as a script of a host that does not
// answer. Otherwise the page fails.
func (v *visit) cut(p *Page) error {
	if p.Cut == "" {
		p.Cut = "the page was not complete within " + v.job.How.Timeout.String()
	}
	v.endLongScript(v.ctx, commandTime)
	if !(navigation{v}).isRead() {
		v.proxy.FailPending() // the document may wait for these
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

// isShown reports whether the document has replaced the previous page.
func (v *visit) isShown() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reached["init"]
}
