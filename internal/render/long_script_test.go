package render

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

// A script that never ends is ended: the page keeps the results so far and reports the script.
func TestScriptsThatNeverEndCostNoPage(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 4, Pages: 1000})
	for name, tt := range map[string]struct{ script, options string }{
		"while the document is read": {"while (1) {}", `{"timeout":"2s"}`},
		"before the time is over":    {"while (1) {}", `{}`},
		"after the load":             {"addEventListener('load', () => setTimeout(() => { while (1) {} }, 50))", `{"timeout":"2s"}`},
		"in promises":                {"const again = () => { Promise.resolve().then(again) }; again()", `{"timeout":"2s"}`},
		"in an action":               {"", `{"timeout":"2s","actions":[{"script":"while (1) {}"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := actOn(t, r, "<p>text</p><script>"+tt.script+"</script><p>end</p>", tt.options)
			if html := string(page.HTML); !strings.Contains(html, "<p>end</p>") || !strings.Contains(page.Cut, errLongScript.Error()) {
				t.Errorf("cut %q: %s", page.Cut, html)
			}
			if page := actOn(t, r, "<p>next</p>", `{}`); page.Cut != "" {
				t.Errorf("the next page: %q", page.Cut)
			}
		})
	}
}

// A script that waits for a response that does not come gets an error for it, and continues.
func TestRequestThatBlocksAScriptIsFailed(t *testing.T) {
	t.Parallel()
	never := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(never.Close)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	const script = `addEventListener('load', () => {
		const ask = new XMLHttpRequest()
		ask.open('GET', '/never', false)
		try { ask.send() } finally { document.body.append('it goes on') }
	})`
	html, _ := showBare(t, r, never.URL, "/page", "<p>text</p><script>"+script+"</script>", crawlspec.UntilIdle)
	if !strings.Contains(html, "it goes on</body>") {
		t.Error(html)
	}
}
