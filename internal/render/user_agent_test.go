package render

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"seine/pkg/crawlspec"
)

// The browser's client hints do not contradict the user agent.
func TestClientHintsDoNotContradictTheUserAgent(t *testing.T) {
	t.Parallel()
	hints := make(chan string, 10)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "Sec-Ch-") {
				hints <- name + " of " + r.URL.Path
			}
		}
	}))
	t.Cleanup(web.Close)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	html, _ := showBare(t, r, web.URL, "/", `<!doctype html><p></p><script>(async () => {
		await fetch('/asked')
		const told = await navigator.userAgentData.getHighEntropyValues(['platform', 'fullVersionList'])
		document.querySelector('p').textContent = [navigator.userAgent, told.brands.length, told.fullVersionList.length, told.platform].join(' ')
	})()</script>`, crawlspec.UntilIdle)
	if !strings.Contains(html, "<p>seine/test 0 0 </p>") {
		t.Errorf("the page is told otherwise: %s", html)
	}
	select {
	case name := <-hints:
		t.Errorf("the browser sends %s", name)
	default:
	}
}

// Every request of a page has the crawler's user agent, whichever part of the page sends it.
// Windows are not opened: they become links of the page.
func TestEveryRequestHasTheUserAgent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	agents := make(map[string]string)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		agents[r.URL.Path] = r.UserAgent()
		for name := range r.Header {
			if strings.HasPrefix(name, "Sec-Ch-") {
				t.Errorf("%s has %s", r.URL, name)
			}
		}
		mu.Unlock()
		switch {
		case strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte("fetch('/by-" + strings.Trim(r.URL.Path, "/") + "')"))
		case r.URL.Path == "/frame":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<script>fetch('/by-frame')</script>"))
		}
	}))
	t.Cleanup(web.Close)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	html, _ := showBare(t, r, web.URL, "/", `<p>opener</p><iframe src=/frame></iframe><a target=_blank href=/blank></a><script>
		new Worker('/worker.js'); new SharedWorker('/shared.js'); fetch('/by-page')
		open('/window'); open('/window'); open('/other', '', 'noopener'); document.querySelector('a').click()</script>`, crawlspec.UntilIdle)
	mu.Lock()
	defer mu.Unlock()
	for _, path := range []string{"/frame", "/by-frame", "/by-page", "/worker.js", "/by-worker.js", "/shared.js", "/by-shared.js"} {
		if _, asked := agents[path]; !asked {
			t.Errorf("%s is not asked for", path)
		}
	}
	for path, agent := range agents {
		if agent != "seine/test" {
			t.Errorf("%s is asked for by %q", path, agent)
		}
	}
	for _, path := range []string{"/window", "/other"} {
		if strings.Count(html, `<a href="`+web.URL+path+`"></a>`) != 1 {
			t.Errorf("no link to %s: %s", path, html)
		}
	}
}
