//go:build unix

package render

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"

	"seine/internal/render/pageproxy"
	"seine/internal/testing/await"
	"seine/pkg/crawlspec"
)

// The browser may report late that the previous page has stopped loading, since that was emptied.
// The new page is awaited nevertheless: here its script waits for a style sheet, and the rest has
// not been parsed.
func TestLateEndOfThePageBeforeIsNotThatOfThePage(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "p {}") }))
	t.Cleanup(web.Close)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	showBare(t, r, web.URL, "/before", "<p>before", crawlspec.UntilLoad)
	s := <-r.slots
	tab := s.tab
	r.slots <- s
	how := crawlspec.DefaultRender()
	how.Until = crawlspec.UntilLoad
	shown := make(chan struct{})
	got, err := func() (*Page, error) {
		defer close(shown)
		return r.Render(t.Context(), &Job{
			Crawl: "c", How: &how, UserAgent: "seine/test", MaxBody: 1 << 20, Transport: guarded{web.URL},
			Main: pageproxy.Document{
				URL: web.URL + "/page", Status: 200, Header: http.Header{"Content-Type": {"text/html"}},
				Body: []byte(`<title>page</title><link rel=stylesheet href=/style.css><script>var a = 1</script><p>` + documentEnd),
			},
			Allow: func(context.Context, *http.Request) error {
				tab.mu.Lock()
				v := tab.visit
				tab.mu.Unlock()
				await.Eventually(t, "the page is in its place", v.isShown)
				tab.heard(&page.EventFrameStoppedLoading{FrameID: v.frame})
				select {
				case <-shown: // too early
				case <-time.After(300 * time.Millisecond):
				}
				return nil
			},
		})
	}()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(got.HTML, []byte(documentEnd)) {
		t.Errorf("the half of it is taken for the page: %s", got.HTML)
	}
}
