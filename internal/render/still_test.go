package render

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// A page whose requests do not end is taken when its text and links no longer change, and reports
// that. A page that is about to show something is awaited.
func TestPagesThatAreNeverIdleAreTakenWhenStill(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/hang":
			select {
			case <-ended:
			case <-req.Context().Done():
			}
		case "/hang.js":
			<-req.Context().Done()
		case "/slow":
			time.Sleep(7 * time.Second) // a site that answers after the 5 s in which a page must be still
		}
		fmt.Fprint(w, "answer")
	}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(ended) })
	r := start(t, Config{Tabs: 4, Pages: 1000})
	text, add := "<p>"+strings.Repeat("words of the page ", 20)+"</p>", "document.body.insertAdjacentHTML('beforeend', '<b>added</b>')"
	for name, tt := range map[string]struct {
		document string
		cut      string
	}{
		"a shell with a long poll":       {"<p>Shop</p><script>" + add + "; fetch('/hang')</script>", errStill.Error()},
		"a script that does not come":    {text + "<script src=/hang.js></script><script>" + add + "</script>", ""},
		"a long poll":                    {text + "<script>" + add + "; fetch('/hang')</script>", errStill.Error()},
		"polls":                          {text + "<script>" + add + "; setInterval(() => fetch('/poll'), 100)</script>", errStill.Error()},
		"a picture that does not come":   {text + "<img src=/hang><script>" + add + "</script>", errStill.Error()},
		"links":                          {strings.Repeat("<a href=/a>a</a>", 10) + "<script>" + add + "; fetch('/hang')</script>", errStill.Error()},
		"a shell with a slow answer":     {"<p>Shop</p><script>fetch('/slow').then(() => { " + add + " })</script>", ""},
		"a shell that a timer fills":     {"<p>Shop</p><script>setTimeout(() => { document.querySelector('p').outerHTML = `" + text + "`; " + add + "; fetch('/hang') }, 1500)</script>", errStill.Error()},
		"many requests that take a time": {text + "<script>let n = 0; for (const i of '123456') fetch('/slow?' + i).then(() => { if (++n === 6) " + add + " })</script>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			how := crawlspec.DefaultRender()
			how.Timeout, how.Block.Types = crawlspec.Duration(time.Minute), nil
			page, err := r.Render(t.Context(), &Job{
				Crawl: "c", How: &how, UserAgent: "seine/test", MaxBody: 1 << 20, Transport: guarded{web.URL},
				Main: pageproxy.Document{URL: web.URL + "/page", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<!doctype html>" + tt.document)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(page.HTML), "<b>added</b>") || page.Cut != tt.cut {
				t.Errorf("cut %q: %s", page.Cut, page.HTML)
			}
		})
	}
}
