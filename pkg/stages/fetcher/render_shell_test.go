package fetcher

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"seine/internal/render"
	"seine/internal/testing/browser"
	"seine/pkg/crawlspec"
)

// A shell that a timer fills is rendered, and waited for, in auto mode too.
func TestAutoWaitsForAShell(t *testing.T) {
	t.Parallel()
	browser.Path(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<div id=root>Loading…</div><script>setTimeout(() => { root.textContent = 'late content' }, 1500)</script>"))
	}))
	t.Cleanup(site.Close)
	spec := localSpec()
	spec.SetRender(crawlspec.RenderAuto)
	got, err := FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), &spec, site.URL+"/app", func(time.Duration) {})
	if err != nil {
		t.Fatal(err)
	}
	if body := string(got.Body); !strings.Contains(body, ">late content<") || got.Cut != "" {
		t.Errorf("cut: %q: %s", got.Cut, body)
	}
}
