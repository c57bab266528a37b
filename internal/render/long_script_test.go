package render

import (
	"strings"
	"testing"
)

// A script that never ends is ended: the page is what it has made until then, and says so.
func TestScriptsThatNeverEndCostNoPage(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 4, Pages: 1000})
	for name, tt := range map[string]struct{ script, options string }{
		"while the document is read": {"while (1) {}", `{"timeout":"2s"}`},
		"before the time is over":    {"while (1) {}", `{}`},
		"after the load":             {"addEventListener('load', () => setTimeout(() => { while (1) {} }, 50))", `{"timeout":"2s"}`},
		"in promises":                {"const again = () => Promise.resolve().then(again); again()", `{"timeout":"2s"}`},
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
