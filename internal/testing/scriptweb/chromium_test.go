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

// tabs is how many pages are shown at a time.
const tabs = 4

// pageTime bounds a page.
const pageTime = 15 * time.Second

// outOfProcess are pages whose text is in a frame with a process of its own, which a snapshot of the page lacks: they
// are held to have been shown when the frame was asked for.
var outOfProcess = []string{"cross-site-iframe", "sandboxed-iframe"}

// unseen are targets that a browser without a guard does not reach within the time: reports are sent after a minute, and
// of a page that is rendered ahead, which is asked for, no script has been seen to run.
var unseen = []string{"/secret/report-to", "/secret/speculation-inner"}

func TestChromiumShowsText(t *testing.T) {
	w, browser := Start(t), startChromium(t)
	each(t, showsByItself, func(t *testing.T, p Page) {
		show(t, openTab(t, browser), w.URL(p.Path), func(tab context.Context) bool { return shown(tab, w, p) })
	})
}

// showsByItself reports whether a page shows what it must in a browser that only goes there: without options (a time
// limit is none here), and without an answer to a question for a password.
func showsByItself(p Page) bool {
	return !p.Attack && !p.Fails && !p.MayFail && p.Name != "http-auth" && (p.Render == "" || p.Render == bounded)
}

// TestChromiumAttacks shows that a browser without a guard does what a guard must refuse.
func TestChromiumAttacks(t *testing.T) {
	w, browser := Start(t), startChromium(t)
	each(t, func(p Page) bool { return p.Attack && p.Render == "" }, func(t *testing.T, p Page) {
		show(t, openWindow(t, browser), w.URL(p.Path), func(context.Context) bool { return len(unasked(w, p)) == 0 })
	})
}

// each runs a subtest for each page that is wanted, a few at a time.
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

// startChromium starts a Chromium that ends with the test. Without Chromium it fails in CI, and skips the test elsewhere.
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

// openTab opens a tab that ends with the test. Opening a window takes three times as long.
func openTab(t *testing.T, browser context.Context, options ...chromedp.ContextOption) context.Context {
	t.Helper()
	tab, closeTab := chromedp.NewContext(browser, options...)
	t.Cleanup(closeTab)
	if err := chromedp.Run(tab); err != nil {
		t.Fatal(err)
	}
	return tab
}

// openWindow opens a tab in a window of its own: in one that others cover, a page is not laid out, and prepares nothing
// for its next pages.
func openWindow(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	executor := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
	id, err := target.CreateTarget("about:blank").WithNewWindow(true).Do(executor)
	if err != nil {
		t.Fatal(err)
	}
	return openTab(t, browser, chromedp.WithTargetID(id))
}

// show goes to a URL, and waits until ok.
func show(t *testing.T, tab context.Context, url string, ok func(context.Context) bool) {
	t.Helper()
	chromedp.ListenTarget(tab, func(event any) {
		if _, is := event.(*page.EventJavascriptDialogOpening); is {
			go chromedp.Run(tab, page.HandleJavaScriptDialog(true)) //nolint:errcheck // of a tab that may be closed
		}
	})
	bounded, cancel := context.WithTimeout(tab, pageTime)
	defer cancel()
	_ = chromedp.Run(bounded, chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, _, _, err := page.Navigate(url).Do(ctx) // and does not wait for the load
		return err
	}))
	for ; bounded.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if ok(bounded) {
			return
		}
	}
	t.Errorf("was not shown within %v; it says:\n%s", pageTime, strings.Join(snapshot(tab), " | "))
}

// shown reports whether a page shows what it must, or leads to where it must.
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

// isLinkTo reports whether a text may be an attribute that leads to a URL: with all of it, or with the end of its path.
func isLinkTo(url, text string) bool {
	return len(text) > len("a") && strings.HasSuffix(url, text)
}

// snapshot is what the nodes of a page say, those of shadow roots and of frames included.
func snapshot(tab context.Context) (texts []string) {
	_ = chromedp.Run(tab, chromedp.ActionFunc(func(ctx context.Context) error {
		_, all, err := domsnapshot.CaptureSnapshot([]string{}).Do(ctx)
		texts = all
		return err
	}))
	return texts
}

// unasked are the targets of an attack that it has not reached.
func unasked(w *Web, p Page) (paths []string) {
	for _, path := range p.NotAsked {
		if w.CountRequests(path) == 0 && !slices.Contains(unseen, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
