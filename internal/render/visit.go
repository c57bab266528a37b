package render

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// visit is a page while a tab shows it.
type visit struct {
	tab   *tab
	proxy *pageproxy.Proxy
	job   *Job
	url   string // of the document, without a fragment

	requests  pageRequests
	frameless bool // the page draws no frames

	ctx  context.Context // done when the page is to be left
	stop context.CancelCauseFunc

	mu          sync.Mutex
	frame       cdp.FrameID     // main frame
	reached     map[string]bool // lifecycle events
	changed     chan struct{}   // closed at the next lifecycle event
	loads       int             // loads of the document
	settled     bool            // actions run, whose navigations are not redirects
	ignored     string          // URL of the last ignored navigation
	redirect    string          // URL that the page redirects to, "" if it stays
	navigations int
	leads       string // URL that the main frame begins to navigate to
	leaving     bool   // the result of that navigation is not known yet
	dialogs     int
	opened      []string           // URLs of windows, and of downloads that the page led to
	errors      pageproxy.Problems // script errors

	longScript bool // a script was ended

	scrolled  bool // lists may have had rows that are gone
	loggingIn bool // this is the login before a page: scripts may navigate anywhere
}

// Limits of a visit.
const (
	maxLoads       = 3               // of a document that reloads itself
	maxDialogs     = 20              // of a page that opens one after the other
	maxOpened      = 100             // windows and downloads whose URLs are kept
	maxNavigations = 5               // navigations of a page whose response is waited for
	maxNodes       = 1_000_000       // of a document
	commandTime    = 5 * time.Second // for a command that needs no answer of the page
	snapTime       = 10 * time.Second
)

// errRedirected ends the wait for a page that redirects.
var errRedirected = errors.New("the page redirects")

func (t *tab) newVisit(proxy *pageproxy.Proxy, job *Job) *visit {
	v := &visit{tab: t, proxy: proxy, job: job, frame: cdp.FrameID(t.target), reached: make(map[string]bool), changed: make(chan struct{})}
	v.requests = newPageRequests(v.frame)
	v.url, _, _ = strings.Cut(job.Main.URL, "#")
	return v
}

// begin passes the events of the tab to the visit, until end is called.
func (v *visit) begin(ctx context.Context) (end func()) {
	v.ctx, v.stop = context.WithCancelCause(ctx)
	v.tab.use(v)
	return func() {
		v.tab.use(nil)
		v.stop(nil)
	}
}

// show shows the page and returns the result.
func (t *tab) show(ctx context.Context, proxy *pageproxy.Proxy, job *Job) (*Page, error) {
	v := t.newVisit(proxy, job)
	defer v.begin(ctx)()
	p := new(Page)
	err := v.complete(p)
	switch {
	case errors.Is(err, errRedirected) && pageLogin{v}.endsSession():
		err = errNoSession
	case errors.Is(err, errRedirected):
		p.Redirect = v.redirect
		return p, nil
	case err == nil:
		err = capture{v, p}.take()
	}
	if err != nil {
		return nil, v.failure(ctx, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	p.Problems = slices.Clone(v.errors)
	if v.longScript {
		p.Cut = strings.TrimPrefix(p.Cut+"; "+errLongScript.Error(), "; ")
	}
	return p, nil
}

// failure returns the error for a page without a result: the browser has ended, or the page does
// not answer.
func (v *visit) failure(ctx context.Context, err error) error {
	var known *Error
	select {
	case <-v.tab.browser.Done():
		return errBrowserGone
	default:
	}
	switch cause := context.Cause(v.ctx); {
	case errors.As(cause, &known), errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{NoAnswer, "the page did not answer within " + v.job.How.Timeout.String() + " and " + snapTime.String() + ": a script of it may never end"}
	}
	return &Error{NoStart, "the browser does not show the page: " + err.Error()}
}

// complete opens the page, and waits until it is complete. When the time is over, the page is taken
// in its current state.
func (v *visit) complete(p *Page) error {
	ctx, cancel := context.WithTimeoutCause(v.ctx, time.Duration(v.job.How.Timeout), errTimeout)
	defer cancel()
	go v.watchScripts(ctx)
	for _, step := range []func(context.Context) error{v.open, pageActions{v, p}.wait, pageActions{v, p}.run} {
		err := step(ctx)
		switch {
		case v.ctx.Err() != nil:
			return context.Cause(v.ctx)
		case ctx.Err() != nil:
			return v.cut(p)
		case err != nil:
			return err
		}
	}
	v.endLongScript(v.ctx, commandTime) // of an action
	return nil
}

var errTimeout = errors.New("the time limit of the page is over")

// open makes the browser navigate to the page.
func (v *visit) open(ctx context.Context) error {
	failed, err := v.tab.navigate(ctx, v.job.Main.URL)
	if err == nil && failed != "" {
		err = &Error{NoStart, "the browser does not show the page: " + failed}
	}
	return err
}

// Lifecycle events of a frame.
const (
	eventDOM  = "DOMContentLoaded"
	eventLoad = "load"
)

// wait waits until the page is complete, and checks its session.
func (a pageActions) wait(ctx context.Context) error {
	if err := a.settleOrStill(ctx, a.job.How.Until); err != nil {
		return err
	}
	if a.job.How.Until == crawlspec.UntilIdle {
		if err := a.fill(ctx); err != nil {
			return err
		}
	}
	return pageLogin{a.visit}.checkSession(ctx)
}

// waitFor waits for the conditions of a RenderWait.
func (v *visit) waitFor(ctx context.Context, w *crawlspec.RenderWait) error {
	if w.Until != "" {
		if err := v.settle(ctx, w.Until); err != nil {
			return err
		}
	}
	if w.Selector != "" {
		if err := v.until(ctx, found(w.Selector)); err != nil {
			return err
		}
	}
	if w.Expression != "" {
		if err := v.until(ctx, w.Expression); err != nil {
			return err
		}
	}
	return sleep.For(ctx, time.Duration(w.Time))
}

// settle waits for the page to be parsed, loaded, or idle.
func (v *visit) settle(ctx context.Context, until crawlspec.RenderUntil) error {
	if err := v.await(ctx, eventDOM); err != nil || until == crawlspec.UntilDOM {
		return err
	}
	if err := v.await(ctx, eventLoad); err != nil || until == crawlspec.UntilLoad {
		return err
	}
	return v.idle(ctx, idleTime)
}

// pollTime is the interval between checks of a condition in a page.
const pollTime = 50 * time.Millisecond

// until waits until the value of a script is true. Exceptions count as false.
func (v *visit) until(ctx context.Context, script string) error {
	for {
		ok, err := v.tab.evaluate(ctx, script)
		if ok && err == nil {
			return nil
		}
		if err := sleep.For(ctx, pollTime); err != nil {
			return err
		}
	}
}

// await waits for a lifecycle event of the main frame.
func (v *visit) await(ctx context.Context, name string) error {
	for {
		v.mu.Lock()
		reached, changed := v.reached[name] && v.redirect == "", v.changed
		v.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-v.tab.browser.Done():
			return errBrowserGone
		}
	}
}

// heard receives the events of the tab while the page is shown. It must not block.
func (v *visit) heard(event any) {
	switch e := event.(type) {
	case *page.EventLifecycleEvent:
		v.lifecycle(e)
	case *page.EventFrameStartedNavigating:
		v.navigates(e)
	case *page.EventFrameStoppedLoading:
		v.stopped(e.FrameID)
	case *page.EventJavascriptDialogOpening:
		go v.tab.do(page.HandleJavaScriptDialog(e.Type == page.DialogTypeBeforeunload))
		v.dialog()
	case *fetch.EventRequestPaused:
		v.paused(e)
	case *page.EventWindowOpen:
		v.opens(e.URL)
	case *runtime.EventExceptionThrown:
		v.scriptError(e.ExceptionDetails.URL, cmp.Or(e.ExceptionDetails.Exception, &runtime.RemoteObject{Description: e.ExceptionDetails.Text}))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError {
			v.scriptError("", e.Args...)
		}
	case *inspector.EventTargetCrashed:
		v.stop(errCrash)
	default:
		v.requests.heard(event)
	}
}

func (v *visit) lifecycle(e *page.EventLifecycleEvent) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.FrameID != v.frame || v.loads == 0 { // of the previous page
		return
	}
	if e.Name == "init" {
		clear(v.reached)
		v.proxy.InPlace()
	}
	if e.Name == eventDOM {
		go v.tab.do(page.ResetNavigationHistory()) // so that no script goes back to the previous page
	}
	v.reach(e.Name)
}

// navigates records the URL that the main frame begins to navigate to. A request for a document
// without that event is a download.
func (v *visit) navigates(e *page.EventFrameStartedNavigating) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.FrameID == v.frame {
		if v.leads, _, _ = strings.Cut(e.URL, "#"); e.NavigationType == page.FrameStartedNavigatingNavigationTypeHistoryDifferentDocument {
			v.leads = "" // back to the previous page
		}
		v.leaving = e.NavigationType == page.FrameStartedNavigatingNavigationTypeDifferentDocument
	}
}

// stopped records that the main frame has stopped loading. That also happens if the page has opened
// another program, without a lifecycle event. The event of the previous page, which was emptied,
// may come late, so stopped asks the page for its state.
func (v *visit) stopped(frame cdp.FrameID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if frame != v.frame {
		return
	}
	if v.leaving = false; v.reached["init"] {
		go v.askWhetherRead()
	}
}

// askWhetherRead marks the page as loaded if its document is completely parsed, and nothing that it
// needs is pending.
func (v *visit) askWhetherRead() {
	ctx, cancel := context.WithTimeout(v.ctx, commandTime)
	defer cancel()
	is := func(state string) bool {
		yes, err := v.tab.evaluate(ctx, "document.readyState === "+quote(state))
		return yes && err == nil
	}
	if !is("complete") && (!is("interactive") || !v.isQuiet(time.Now())) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.reach(eventDOM, eventLoad)
}

// reach records lifecycle events of the main frame. The caller holds the lock.
func (v *visit) reach(events ...string) {
	for _, name := range events {
		v.reached[name] = true
	}
	close(v.changed)
	v.changed = make(chan struct{})
}

// scriptError records the first line of an exception, or of an error on the console.
func (v *visit) scriptError(url string, what ...*runtime.RemoteObject) {
	words := make([]string, len(what))
	for i, o := range what {
		if words[i], _, _ = strings.Cut(o.Description, "\n"); words[i] == "" && jsontext.Unmarshal(o.Value, &words[i]) != nil {
			words[i] = string(o.Value)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.reached["init"] { // of the previous page
		return
	}
	v.errors.Add("script error: "+strings.Join(words, " "), url)
}

// opens records a URL that the page leads to without leaving.
func (v *visit) opens(url string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.opened) < maxOpened && strings.HasPrefix(url, "http") && !slices.Contains(v.opened, url) {
		v.opened = append(v.opened, url)
	}
}

func (v navigation) openedURLs() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.opened)
}

func (v *visit) dialog() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dialogs++; v.dialogs > maxDialogs {
		v.stop(errDialogs)
	}
}

// paused decides on a request that the browser asks about: for a document of the main frame, which
// would be another page, for one of another frame, or of a blocked type.
func (v *visit) paused(e *fetch.EventRequestPaused) {
	if e.ResourceType != network.ResourceTypeDocument {
		go v.tab.do(fetch.FailRequest(e.RequestID, network.ErrorReasonBlockedByClient))
		return
	}
	switch {
	case e.FrameID == v.frame && (e.ResponseStatusCode > 0 || e.ResponseErrorReason != ""):
		navigation{v}.decide(e)
	case e.FrameID != v.frame || v.isOwn(e.Request):
		go v.tab.do(fetch.ContinueRequest(e.RequestID))
	case (navigation{v}).isByPage(e):
		go v.tab.do(fetch.ContinueRequest(e.RequestID).WithInterceptResponse(true))
	default:
		go v.tab.do(fetch.FailRequest(e.RequestID, network.ErrorReasonAborted))
	}
}

// isOwn reports whether the main frame requests the document of the visit.
func (v *visit) isOwn(r *network.Request) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.loggingIn {
		v.loads++
		return v.loads <= maxLoginLoads
	}
	if r.URL == v.url && r.Method == "GET" {
		v.loads++
		return v.loads <= maxLoads
	}
	return false
}

// screenshot takes a screenshot of the whole page.
func (v *visit) screenshot(ctx context.Context, p *Page) error {
	shot, err := page.CaptureScreenshot().WithCaptureBeyondViewport(true).Do(v.tab.within(ctx))
	if err == nil {
		p.Screenshots = append(p.Screenshots, shot)
	}
	return err
}
