package pageproxy

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"seine/internal/render/chromium"
	"seine/internal/testing/await"
)

// TestChromium shows a page in a real browser through the proxy: the document from memory, a script
// after a redirect, data by fetch(), refused requests, and a WebSocket.
func TestChromium(t *testing.T) {
	for scheme, socket := range map[string]string{"http": "ws", "https": "wss"} {
		t.Run(scheme, func(t *testing.T) { showInChromium(t, scheme, socket) })
	}
}

// showInChromium shows the page three times in one tab, each in a separate visit: End closes
// connections that Chromium would reuse.
func showInChromium(t *testing.T, scheme, socket string) {
	f := newFixture(t, serveApplication)
	tab, url := browserTab(t, f), scheme+"://shop.example/page"
	for range 3 {
		f.exchanges = nil
		f.begin(Visit{Allow: noRobots, Main: Document{URL: url, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(
			`<link rel=icon href=data:,><p id=out></p><script src="//cdn.example/moved.js"></script>`)}})
		if err := chromedp.Run(tab, chromedp.Navigate(url)); err != nil {
			t.Fatal(err)
		}
		var said string
		await.Eventually(t, "the page has said all", func() bool {
			err := chromedp.Run(tab, chromedp.Evaluate(`document.getElementById("out").innerText`, &said))
			return err == nil && strings.Contains(said, "socket") && strings.Contains(said, "api") && strings.Contains(said, "refused")
		})
		for _, want := range []string{"script", "api of shop.example", "refused 403", "echo " + socket} {
			if !strings.Contains(said, want) {
				t.Errorf("the page says %q, not %q", said, want)
			}
		}
		got := f.End()
		if got.Main != 1 || got.Requests != 4 || got.Failed != 0 || got.Refusals != 1 || got.Problems[0].Reason != "robots.txt forbids it" {
			t.Errorf("%+v", got)
		}
		wantExchanges(t, f.exchanges, scheme)
	}
}

func noRobots(_ context.Context, r *http.Request) error {
	if r.URL.Path == "/robots-forbids" {
		return errors.New("robots.txt forbids it")
	}
	return nil
}

// serveApplication serves the resources of the page.
func serveApplication(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	switch {
	case r.Header.Get("Upgrade") != "":
		echoSocket(w, r)
	case r.URL.Path == "/moved.js":
		http.Redirect(w, r, "/app.js", http.StatusFound)
	case r.URL.Path == "/app.js":
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, application)
	default:
		_, _ = io.WriteString(w, "api of "+r.Host)
	}
}

const application = `
const say = text => { const b = document.createElement("b"); b.innerText = text; document.getElementById("out").append(b) }
say("script")
fetch("/api").then(r => r.text()).then(say)
fetch("/robots-forbids").then(r => say("refused " + r.status))
const url = location.protocol.replace("http", "ws") + "//shop.example/socket"
const socket = new WebSocket(url)
socket.onopen = () => socket.send("echo " + url)
socket.onmessage = m => say(m.data)
socket.onerror = () => say("no socket")
`

func wantExchanges(t *testing.T, exchanges []Exchange, scheme string) {
	t.Helper()
	statuses := map[string]int{}
	for _, x := range exchanges {
		statuses[x.URL] = x.Status
		if x.Err != nil || x.Remote != "127.0.0.1" || x.Proto == "" {
			t.Errorf("%+v", x)
		}
		if tells := scheme == "https" && x.Status == 200; tells != (x.Destination != "") && x.Status == 200 {
			t.Errorf("%s: destination %q", x.URL, x.Destination)
		}
	}
	want := map[string]int{
		scheme + "://cdn.example/moved.js": 302, scheme + "://cdn.example/app.js": 200,
		scheme + "://shop.example/api": 200, scheme + "://shop.example/socket": 101,
	}
	if !maps.Equal(statuses, want) {
		t.Errorf("recorded %v, want %v", statuses, want)
	}
}

// browserTab opens a tab that reaches the web through the proxy.
func browserTab(t *testing.T, f *fixture) context.Context {
	t.Helper()
	path, err := chromium.Find("")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("Chromium is not installed: run scripts/chromium")
	} else if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("ignore-certificate-errors-spki-list", f.identity.SPKI()),
		chromedp.WSURLReadTimeout(await.Patience))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, cancel := chromedp.NewContext(allocated)
	t.Cleanup(func() {
		_ = chromedp.Cancel(browser) // waits until the browser has ended
		cancel()
		stop()
	})
	if err := chromedp.Run(browser); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	tab, cancelTab := chromedp.NewContext(browser, chromedp.WithTargetID(newTab(t, browser, f.Addr())))
	t.Cleanup(cancelTab)
	bounded, cancelBounded := context.WithTimeout(tab, await.Patience)
	t.Cleanup(cancelBounded)
	return bounded
}

// newTab opens a tab in a browser context with the proxy. It has a separate window: without one
// Chromium finds none in a new context.
func newTab(t *testing.T, browser context.Context, proxy string) (id target.ID) {
	t.Helper()
	err := chromedp.Run(browser, chromedp.ActionFunc(func(ctx context.Context) error {
		ctx = cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		c, err := target.CreateBrowserContext().WithProxyServer("http://" + proxy).WithProxyBypassList("<-loopback>").Do(ctx)
		if err != nil {
			return err
		}
		id, err = target.CreateTarget("about:blank").WithBrowserContextID(c).WithNewWindow(true).Do(ctx)
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	return id
}
