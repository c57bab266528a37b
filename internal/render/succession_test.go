package render

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// staying is a page that stores data in every way, and keeps sending requests.
const staying = `<!doctype html><title>Before</title><script>
localStorage.kept = sessionStorage.kept = 'before'
document.cookie = 'kept=before'
indexedDB.open('kept')
history.pushState({}, '', '/before?pushed')
for (const event of ['pagehide', 'visibilitychange', 'unload', 'beforeunload'])
	addEventListener(event, () => navigator.sendBeacon('/stale/' + event))
setInterval(() => { localStorage.kept = 'again'; fetch('/stale/timer') }, 10)
</script>`

// looking is a page that shows the stored data that it finds.
const looking = `<!doctype html><title>After</title><p>nothing yet</p><script>
(async () => {
	await fetch('/fresh')
	const databases = await indexedDB.databases()
	document.querySelector('p').textContent = [document.cookie, Object.keys(localStorage), Object.keys(sessionStorage), databases.length].join(' ')
})()
</script>`

// A page that follows another one in a tab finds none of its stored data, whatever the previous
// page does until it is gone. Requests of the previous page do not count as its own.
func TestPageHasNothingOfTheOneBefore(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "answer") }))
	t.Cleanup(web.Close)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	for _, rested := range []bool{false, true} {
		showBare(t, r, web.URL, "/before", staying, crawlspec.UntilLoad)
		if rested {
			s := <-r.slots
			r.slots <- s
			s.rest()
		}
		html, asked := showBare(t, r, web.URL, "/after", looking, crawlspec.UntilIdle)
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(doc.Find("p").Text()); got != "0" {
			t.Errorf("rested %v: it finds %q", rested, got)
		}
		if !slices.Equal(asked, []string{"/fresh"}) {
			t.Errorf("rested %v: it asks for %v", rested, asked)
		}
	}
}

// showBare shows a document, and returns the result and the paths that it has requested.
func showBare(t *testing.T, r *Renderer, origin, path, document string, until crawlspec.RenderUntil) (html string, asked []string) {
	t.Helper()
	how := crawlspec.DefaultRender()
	how.Until = until
	var mu sync.Mutex
	page, err := r.Render(t.Context(), &Job{
		Crawl: "c", How: &how, UserAgent: "seine/test", MaxBody: 1 << 20, Transport: guarded{origin}, MaxRecorded: 1 << 10,
		Main: pageproxy.Document{URL: origin + path, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(document)},
		Record: func(e pageproxy.Exchange) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, strings.TrimPrefix(e.URL, origin))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return string(page.HTML), asked
}
