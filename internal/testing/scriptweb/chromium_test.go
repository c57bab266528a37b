package scriptweb

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/domsnapshot"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"seine/internal/testing/browser"
)

// tabs is the number of pages shown at a time.
const tabs = 4

// pageTime is the time limit of a page.
const pageTime = 15 * time.Second

// outOfProcess are pages whose text is in a frame with its own process, which a snapshot of the
// page lacks. They count as shown when the frame was requested.
var outOfProcess = []string{"cross-site-iframe", "sandboxed-iframe"}

// unseen are targets that a browser without a guard does not reach within the time: reports are
// sent after a minute, and scripts of prerendered pages were never seen to run, although the pages
// are requested.
var unseen = []string{"/secret/report-to", "/secret/speculation-inner"}

func TestChromiumShowsText(t *testing.T) {
	w, browser := Start(t), startChromium(t)
	each(t, showsByItself, func(t *testing.T, p Page) {
		show(t, openTab(t, browser), w.URL(p.Path), func(tab context.Context) bool { return shown(tab, w, p) })
	})
}

// showsByItself reports whether a page shows its text in a browser that only navigates to it:
// without options (other than a time limit) and without a password.
func showsByItself(p Page) bool {
	return !p.Attack && !p.Fails && !p.MayFail && p.Name != "http-auth" && (p.Render == "" || p.Render == bounded)
}

// TestChromiumAttacks shows that a browser without a guard reaches the targets that a guard must
// block.
func TestChromiumAttacks(t *testing.T) {
	w, browser := Start(t), startChromium(t)
	each(t, func(p Page) bool { return p.Attack && p.Render == "" }, func(t *testing.T, p Page) {
		show(t, openWindow(t, browser), w.URL(p.Path), func(context.Context) bool { return len(unasked(w, p)) == 0 })
	})
}

// each runs a subtest for each wanted page, a few at a time.
func each(t *testing.T, want func(Page) bool, f func(*testing.T, Page)) {
	t.Helper()
	slots := make(chan struct{}, tabs)
	var all sync.WaitGroup
	for _, p := range Pages() {
		if !want(p) {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(p.Name, func(t *testing.T) { f(t, p) })
		})
	}
	all.Wait()
}

// startChromium starts a Chromium that ends with the test. Without Chromium it fails in CI and
// skips the test elsewhere.
func startChromium(t *testing.T) context.Context {
	t.Helper()
	if os.Getenv("SEINE_RENDER_ALL") == "" {
		t.Skip("it is of the test web itself, and takes a minute: make render runs it")
	}
	if testing.Short() {
		t.Skip("shows some hundred pages")
	}
	return browser.Launch(t)
}

// openTab opens a tab that ends with the test. Opening a window would take three times as long.
func openTab(t *testing.T, browser context.Context, options ...chromedp.ContextOption) context.Context {
	t.Helper()
	tab, closeTab := chromedp.NewContext(browser, options...)
	t.Cleanup(closeTab)
	if err := chromedp.Run(tab); err != nil {
		t.Fatal(err)
	}
	return tab
}

// openWindow opens a tab in its own window. A covered page is not laid out and does not preload its
// next pages.
func openWindow(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	executor := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
	id, err := target.CreateTarget("about:blank").WithNewWindow(true).Do(executor)
	if err != nil {
		t.Fatal(err)
	}
	return openTab(t, browser, chromedp.WithTargetID(id))
}

// show navigates to a URL and waits until ok returns true.
func show(t *testing.T, tab context.Context, url string, ok func(context.Context) bool) {
	t.Helper()
	chromedp.ListenTarget(tab, func(event any) {
		if _, is := event.(*page.EventJavascriptDialogOpening); is {
			go chromedp.Run(tab, page.HandleJavaScriptDialog(true)) //nolint:errcheck // fails if the tab is closed
		}
	})
	bounded, cancel := context.WithTimeout(tab, pageTime)
	defer cancel()
	_ = chromedp.Run(bounded, chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, _, _, err := page.Navigate(url).Do(ctx) // does not wait for the load
		return err
	}))
	for ; bounded.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if ok(bounded) {
			return
		}
	}
	t.Errorf("was not shown within %v; it says:\n%s", pageTime, strings.Join(snapshot(tab), " | "))
}

// shown reports whether a page shows its required text, or redirects to its target.
func shown(tab context.Context, w *Web, p Page) bool {
	if p.RedirectTo != "" {
		return w.CountRequests(p.RedirectTo) > 0
	}
	for _, path := range p.Asked {
		if w.CountRequests(path) == 0 {
			return false
		}
	}
	if slices.Contains(outOfProcess, p.Name) {
		return w.CountRequests(p.Path+"/inner") > 0
	}
	texts := snapshot(tab)
	for _, link := range p.Links {
		if !slices.ContainsFunc(texts, func(text string) bool { return isLinkTo(w.URL(link), text) }) {
			return false
		}
	}
	for _, want := range p.Text {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, want) }) {
			return false
		}
	}
	return true
}

// isLinkTo reports whether a text may be an attribute that leads to a URL: the complete URL or the
// end of its path.
func isLinkTo(url, text string) bool {
	return len(text) > len("a") && strings.HasSuffix(url, text)
}

// snapshot returns the strings of a page's nodes, including those of shadow roots and frames.
func snapshot(tab context.Context) (texts []string) {
	_ = chromedp.Run(tab, chromedp.ActionFunc(func(ctx context.Context) error {
		_, all, err := domsnapshot.CaptureSnapshot([]string{}).Do(ctx)
		texts = all
		return err
	}))
	return texts
}

// unasked returns the targets that an attack has not reached.
func unasked(w *Web, p Page) (paths []string) {
	for _, path := range p.NotAsked {
		if w.CountRequests(path) == 0 && !slices.Contains(unseen, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
