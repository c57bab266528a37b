// Package browser opens pages in a real Chromium, for tests. scripts/chromium installs it.
package browser

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"seine/internal/testing/await"
)

// Browser is a Chromium process that ends with the test.
type Browser struct {
	t   *testing.T
	ctx context.Context // of chromedp, whose contexts are its tabs
}

// Start starts a browser. Without Chromium it fails in CI and skips the test elsewhere.
func Start(t *testing.T) *Browser {
	t.Helper()
	return &Browser{t, Launch(t)}
}

// Launch is Start for callers that open tabs themselves in the chromedp context.
func Launch(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(Path(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-GB"), chromedp.WSURLReadTimeout(await.Patience))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until it has ended
		cancel()
		stop()
	})
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return ctx
}

// Tab is a browser tab. At its end, any script error or Content-Security-Policy violation of its
// pages fails the test.
type Tab struct {
	*Browser

	mu         sync.Mutex
	complaints []string
	allowed    []string
}

// Open opens a tab. Its page has focus, however many tabs are open.
func (b *Browser) Open() *Tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	tab := &Tab{Browser: &Browser{b.t, ctx}}
	chromedp.ListenTarget(ctx, tab.heard)
	if err := chromedp.Run(ctx, log.Enable(), runtime.Enable(), emulation.SetFocusEmulationEnabled(true)); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		cancel()
		tab.mu.Lock()
		defer tab.mu.Unlock()
		for _, text := range tab.complaints {
			b.t.Errorf("the browser: %s", text)
		}
	})
	return tab
}

// Allow ignores browser errors that contain a text, such as those of a connection that the test
// cuts.
func (tab *Tab) Allow(text string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.allowed = append(tab.allowed, text)
}

func (tab *Tab) heard(event any) {
	var text string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Error()
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			text = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if text == "" {
		return
	}
	tab.mu.Lock()
	defer tab.mu.Unlock()
	for _, a := range tab.allowed {
		if strings.Contains(text, a) {
			return
		}
	}
	tab.complaints = append(tab.complaints, text)
}

// Run runs chromedp actions in the tab.
func (tab *Tab) Run(actions ...chromedp.Action) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, await.Patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		tab.t.Fatalf("%s: %v", tab.Path(), err)
	}
}

// Go navigates to a page.
func (tab *Tab) Go(url string) {
	tab.t.Helper()
	tab.Run(chromedp.Navigate(url))
}

// Path returns the path and query of the page.
func (tab *Tab) Path() string {
	var at string
	if chromedp.Run(tab.ctx, chromedp.Location(&at)) != nil {
		return ""
	}
	u, err := url.Parse(at)
	if err != nil {
		return at
	}
	return u.RequestURI()
}

// Text returns the visible text of the page.
func (tab *Tab) Text() (text string) {
	tab.t.Helper()
	tab.Eval(`document.body?.innerText ?? ""`, &text) // the body is missing while the page loads
	return text
}

// Shows waits until the page contains a text.
func (tab *Tab) Shows(text string) {
	tab.t.Helper()
	var last string
	defer func() {
		if tab.t.Failed() {
			tab.t.Logf("%s says:\n%s", tab.Path(), last)
		}
	}()
	await.Eventually(tab.t, "show "+text, func() bool {
		last = tab.Text()
		return strings.Contains(last, text)
	})
}

// Holds waits until a JavaScript expression is true in the page.
func (tab *Tab) Holds(expression string) {
	tab.t.Helper()
	await.Eventually(tab.t, expression, func() (is bool) {
		tab.Eval(`document.readyState !== "loading" && Boolean(`+expression+")", &is)
		return is
	})
}

// Eval evaluates an expression in the page. If the page is left meanwhile, an expression with a
// result (to is not nil) is evaluated again in the next page. One without a result may leave the
// page itself, as a click does.
func (tab *Tab) Eval(expression string, to any) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, await.Patience)
	defer cancel()
	err := chromedp.Run(ctx, chromedp.Evaluate(expression, to))
	for err != nil && strings.Contains(err.Error(), "Inspected target navigated") && ctx.Err() == nil {
		if to == nil {
			return
		}
		err = chromedp.Run(ctx, chromedp.Evaluate(expression, to))
	}
	if err != nil {
		tab.t.Fatalf("%s: %v", tab.Path(), err)
	}
}

// EvalAsync is Eval for promises.
func (tab *Tab) EvalAsync(expression string, to any) {
	tab.t.Helper()
	tab.Run(chromedp.Evaluate(expression, to, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}

// Size sets the size of the tab in CSS pixels.
func (tab *Tab) Size(width, height int64) {
	tab.t.Helper()
	tab.Run(chromedp.EmulateViewport(width, height))
}

// Dark sets the colour scheme that the system prefers: dark or light.
func (tab *Tab) Dark(dark bool) {
	tab.t.Helper()
	value := map[bool]string{true: "dark", false: "light"}[dark]
	tab.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}))
}

// WithoutScripts disables scripts in pages from now on.
func (tab *Tab) WithoutScripts() {
	tab.t.Helper()
	tab.Run(emulation.SetScriptExecutionDisabled(true))
}

// Screenshot returns a PNG of the visible part of the page, or of the whole page.
func (tab *Tab) Screenshot(whole bool) (png []byte) {
	tab.t.Helper()
	tab.Run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		png, err = page.CaptureScreenshot().WithCaptureBeyondViewport(whole).Do(ctx)
		return err
	}))
	return png
}
