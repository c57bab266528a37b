package render

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

// The browser says of itself what the user agent says, and no more: client hints would tell of another one.
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
