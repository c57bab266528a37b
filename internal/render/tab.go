package render

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/domstorage"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"

	"seine/internal/base/sleep"
	"seine/internal/base/weburl"
	"seine/internal/render/devtools"
	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// tab is a tab of a browser, in a separate browser context, that shows pages of one crawl.
type tab struct {
	browser *sharedBrowser
	crawl   string // Job.Crawl of its pages
	context cdp.BrowserContextID
	target  target.ID
	session *devtools.Session

	shows       string               // origin of the page that it shows, "" if that is blank
	loggedIn    time.Time            // zero before the first login
	sentSecrets atomic.Bool          // the visit has logged in
	cookies     map[cookieKey]string // of the browser context, at the last check

	mu    sync.Mutex
	visit *visit // visit in progress, or nil
}

// openTab opens a tab that reaches the web only through a proxy.
func openTab(ctx context.Context, b *sharedBrowser, proxy *pageproxy.Proxy, job *Job) (t *tab, err error) {
	t = &tab{browser: b, crawl: job.Crawl}
	whole := cdp.WithExecutor(ctx, b)
	t.context, err = target.CreateBrowserContext().WithDisposeOnDetach(true).
		WithProxyServer("http://" + proxy.Addr()).WithProxyBypassList("<-loopback>").Do(whole)
	if err != nil {
		return nil, fmt.Errorf("open a browser context: %w", err)
	}
	defer func() {
		if err != nil {
			t.close(ctx)
			err = fmt.Errorf("open a tab: %w", err)
		}
	}()
	if err = browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorDeny).WithBrowserContextID(t.context).Do(whole); err != nil {
		return t, err
	}
	if t.target, err = target.CreateTarget(emptyPage).WithBrowserContextID(t.context).WithNewWindow(true).Do(whole); err != nil {
		return t, err
	}
	if t.session, err = b.Attach(ctx, t.target, t.heard); err != nil {
		return t, err
	}
	return t, t.prepare(t.within(ctx), job)
}

// within returns a context for commands to this tab.
func (t *tab) within(ctx context.Context) context.Context { return cdp.WithExecutor(ctx, t.session) }

// action is a command without a result.
type action interface {
	Do(ctx context.Context) error
}

// prepare configures the tab for all its pages.
func (t *tab) prepare(ctx context.Context, job *Job) error {
	how := job.How
	agent := emulation.SetUserAgentOverride(job.UserAgent)
	if how.Language != "" {
		agent = agent.WithAcceptLanguage(how.Language)
	}
	all := []action{
		page.Enable(), page.SetLifecycleEventsEnabled(true), inspector.Enable(), agent,
		emulation.SetDeviceMetricsOverride(int64(how.Viewport.Width), int64(how.Viewport.Height), 1, false),
		emulation.SetFocusEmulationEnabled(true), fetch.Enable().WithPatterns(pausedRequests(how)), reportRequests(), runtime.Enable(),
	}
	for _, a := range all {
		if err := a.Do(ctx); err != nil {
			return err
		}
	}
	_, err := page.AddScriptToEvaluateOnNewDocument(stayOpen + watchTimers + how.InitScript).Do(ctx)
	return err
}

// stayOpen prevents scripts from closing the tab, and from going back to a previous page.
const stayOpen = `{
	const go = History.prototype.go
	History.prototype.go = function (n) { if (!n || (navigation.currentEntry?.index ?? 0) + n >= 0) go.call(this, n) }
	History.prototype.back = function () { this.go(-1) }
	window.close = () => {}
}
`

// pausedRequests returns the requests that the browser asks about: documents, since a page may
// navigate elsewhere, and blocked types.
func pausedRequests(how *crawlspec.Render) []*fetch.RequestPattern {
	all := []*fetch.RequestPattern{{ResourceType: network.ResourceTypeDocument}}
	for _, name := range how.Block.Types {
		for _, known := range blockable {
			if strings.EqualFold(name, string(known)) {
				all = append(all, &fetch.RequestPattern{ResourceType: known})
			}
		}
	}
	return all
}

// blockable are the resource types of crawlspec.BlockTypes.
var blockable = []network.ResourceType{
	network.ResourceTypeStylesheet, network.ResourceTypeImage, network.ResourceTypeMedia, network.ResourceTypeFont, network.ResourceTypeScript,
	network.ResourceTypeTextTrack, network.ResourceTypeXHR, network.ResourceTypeFetch, network.ResourceTypeEventSource,
	network.ResourceTypeWebSocket, network.ResourceTypeManifest, network.ResourceTypePing, network.ResourceTypeOther,
}

// heard receives the events of the tab. It must not block.
func (t *tab) heard(event any) {
	t.mu.Lock()
	v := t.visit
	t.mu.Unlock()
	if v != nil {
		v.heard(event)
		return
	}
	switch e := event.(type) {
	case *fetch.EventRequestPaused: // of a page that is no longer shown
		go t.do(fetch.FailRequest(e.RequestID, network.ErrorReasonAborted))
	case *page.EventJavascriptDialogOpening:
		go t.do(page.HandleJavaScriptDialog(true))
	}
}

// do runs a command and ignores its error: a page that is gone rejects it.
func (t *tab) do(a action) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	_ = a.Do(t.within(ctx))
}

// use passes events to a visit, or to none if v is nil.
func (t *tab) use(v *visit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.visit = v
}

// forget empties the page that the tab shows and clears stored data, except the cache of the crawl.
// The page lives on, without its timers, listeners and frames, until the next one replaces it:
// showing an empty page in between takes as long as showing a light one.
func (t *tab) forget(ctx context.Context) error {
	if t.shows == "" {
		return nil
	}
	t.cookies = nil
	ctx, cancel := context.WithTimeout(t.within(ctx), forgetTime)
	defer cancel()
	if _, _, err := runtime.Evaluate(stopTimers).Do(ctx); err != nil { // a page that hangs does not answer
		return err
	}
	all := []action{
		page.StopLoading(),
		page.SetDocumentContent(cdp.FrameID(t.target), ""),
		domstorage.Clear(&domstorage.StorageID{SecurityOrigin: t.shows, IsLocalStorage: true}),
		domstorage.Clear(&domstorage.StorageID{SecurityOrigin: t.shows}),
		storage.ClearDataForOrigin(t.shows, storedTypes),
	}
	for _, a := range all {
		if err := a.Do(ctx); err != nil {
			return err
		}
	}
	return storage.ClearCookies().WithBrowserContextID(t.context).Do(cdp.WithExecutor(ctx, t.browser))
}

// stopTimers stops the timers of a page, which are numbered from 1.
const stopTimers = `for (let id = Math.min(setTimeout(() => {}), 1e5); id > 0; id--) clearTimeout(id)`

// forgetTime is how long emptying and leaving a page may take.
const forgetTime = 2 * time.Second

// storedTypes are the kinds of stored data other than cookies, local and session storage. Clearing
// only these takes 10 ms of CPU, and clearing "all" 30 ms.
const storedTypes = "indexeddb,cache_storage,service_workers,file_systems"

// rest forgets and leaves the page, so that no part of it runs while the tab is idle.
func (t *tab) rest(ctx context.Context) error {
	if err := t.forget(ctx); err != nil || t.shows == "" {
		return err
	}
	return t.leavePage(ctx)
}

// leavePage shows an empty page. Stored data stays.
func (t *tab) leavePage(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, forgetTime)
	defer cancel()
	t.shows = ""
	if _, err := t.navigate(ctx, emptyPage); err != nil {
		return err
	}
	return t.forgetHistory(t.within(ctx))
}

// leaveForRoute shows an empty page before one with a route: for another route of the document that
// the tab shows, the browser would only scroll.
func (t *tab) leaveForRoute(ctx context.Context, job *Job) error {
	if t.shows == "" || weburl.Route(job.Main.URL) == "" {
		return nil
	}
	return t.leavePage(ctx)
}

const emptyPage = "about:blank"

// navigate navigates the tab to a URL. failed is the browser's message for a URL that cannot be
// shown.
func (t *tab) navigate(ctx context.Context, url string) (failed string, err error) {
	_, _, failed, _, err = page.Navigate(url).Do(t.within(ctx))
	return failed, err
}

// forgetHistory clears the history of the tab. The browser rejects that for a moment while it
// leaves a page.
func (t *tab) forgetHistory(ctx context.Context) error {
	for {
		err := page.ResetNavigationHistory().Do(ctx)
		if refused := (*cdproto.Error)(nil); !errors.As(err, &refused) {
			return err
		}
		if err := sleep.For(ctx, leaveTime); err != nil {
			return err
		}
	}
}

// leaveTime is the interval between checks whether a tab has left its page.
const leaveTime = 5 * time.Millisecond

// evaluate runs a script in the page and returns whether its value, awaited if it is a promise, is
// true.
func (t *tab) evaluate(ctx context.Context, script string) (bool, error) {
	value, exception, err := runtime.Evaluate("(async () => !!(" + script + "\n))()").WithAwaitPromise(true).WithReturnByValue(true).WithUserGesture(true).Do(t.within(ctx))
	switch {
	case err != nil:
		return false, err
	case exception != nil:
		return false, exception
	}
	return string(value.Value) == "true", nil
}

// close closes the tab and clears all data that its pages have stored.
func (t *tab) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandTime)
	defer cancel()
	if t.session != nil {
		t.session.Detach()
	}
	if err := target.DisposeBrowserContext(t.context).Do(cdp.WithExecutor(ctx, t.browser)); err != nil && ctx.Err() != nil {
		t.browser.retire() // it does not answer
	}
}
