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

// The page contains the reasons why it is empty: requests that are not allowed, requests that fail,
// and errors of its scripts.
func TestRenderProblems(t *testing.T) {
	t.Parallel()
	browser.Path(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	fetches := func(url string) string { return "fetch('" + url + "').catch(() => {})" }
	for name, tt := range map[string]struct{ script, reason, url string }{
		"robots.txt":      {fetches("/api/items"), "robots.txt forbids it (if its owner lets you, set robots: ignore)", "/api/items"},
		"blocked by spec": {fetches("/tracker"), "the spec blocks it (render.block.urls)", "/tracker"},
		"over the limit":  {"for (let n = 0; n < 9; n++) " + fetches("/text"), "limit of 5 requests (render.max_requests)", "/text"},
		"404":             {fetches("/missing"), "the site answered 404 Not Found", "/missing"},
		"500":             {fetches("/broken"), "the site answered 500 Internal Server Error", "/broken"},
		"nobody listens":  {fetches(gone.URL + "/x"), "connection refused", gone.URL + "/x"},
		"TLS":             {fetches(secure.URL + "/x"), "certificate", secure.URL + "/x"},
		"exception":       {"undefinedFunction()", "script error: ReferenceError: undefinedFunction is not defined", "/app"},
		"rejection":       {"Promise.reject(new TypeError('no list'))", "script error: TypeError: no list", "/app"},
		"console":         {"console.error('no items in', 'the', {list: 1})", "script error: no items in the Object", ""},
		"nothing":         {"console.log('all is well'); " + fetches("/text"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/robots.txt":
					_, _ = w.Write([]byte("User-agent: *\nDisallow: /api/\n"))
				case "/app":
					w.Header().Set("Content-Type", "text/html")
					_, _ = w.Write([]byte("<link rel=icon href=data:,><title>app</title><main></main><script>" + tt.script + "</script>"))
				case "/text":
					_, _ = w.Write([]byte("text"))
				case "/broken":
					w.WriteHeader(http.StatusInternalServerError)
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(site.Close)
			spec := localSpec()
			spec.SetRender(crawlspec.RenderAlways)
			spec.Render.MaxRequests, spec.Render.Block.URLs = 5, crawlspec.Strings{"*/tracker"}
			got, err := FetchOne(t.Context(), DefaultConfig(), render.DefaultConfig(), &spec, site.URL+"/app", func(time.Duration) {})
			if err != nil {
				t.Fatal(err)
			}
			all := got.Page.RenderProblems
			if tt.reason == "" {
				if len(all) > 0 {
					t.Errorf("%v", all)
				}
				return
			}
			url := tt.url
			if strings.HasPrefix(url, "/") {
				url = site.URL + url
			}
			if len(all) != 1 || !strings.Contains(all[0].Reason, tt.reason) || all[0].URL != url {
				t.Errorf("it says %v, want %s of %s", all, tt.reason, url)
			}
		})
	}
}
