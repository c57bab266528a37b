package render

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"seine/pkg/crawlspec"
)

// A page redirects only if the response is a document. Otherwise the page stays, even if the tab
// showed another page before.
func TestPageStaysUnlessADocumentIsToBeShown(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		switch r.URL.Path {
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/slow":
			time.Sleep(600 * time.Millisecond) // longer than the time between two navigations of a page below
			w.WriteHeader(http.StatusNoContent)
		case "/reset":
			w.WriteHeader(http.StatusResetContent)
		case "/attached":
			h.Set("Content-Type", "text/html")
			h.Set("Content-Disposition", "attachment; filename=x.html")
		case "/zip":
			h.Set("Content-Type", "application/zip")
		case "/pdf":
			h.Set("Content-Type", "application/pdf")
		case "/to-zip":
			http.Redirect(w, r, "/zip", http.StatusFound)
		case "/to-html":
			http.Redirect(w, r, "/html", http.StatusFound)
		case "/html", "/missing":
			h.Set("Content-Type", "text/html")
			if r.URL.Path == "/missing" {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = w.Write([]byte("<p>another page"))
		case "/hangs":
			<-r.Context().Done()
		}
	}))
	t.Cleanup(web.Close)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	later := func(script string) string { return "setTimeout(() => { " + script + " }, 50)" }
	for _, tt := range []struct {
		script string
		leaves bool
		link   string
	}{
		{script: later("location = '/none'")},
		{script: later("location = '/reset'")},
		{script: "location = '/attached'", leaves: true}, // parsing does not continue
		{script: later("location = '/attached'"), link: "/attached"},
		{script: later("location = '/zip'"), link: "/zip"},
		{script: later("location = '/pdf'"), link: "/pdf"},
		{script: later("location = '/to-zip'"), link: "/to-zip"},
		{script: later("location = '/none'; setTimeout(() => { location = '/zip' }, 200)"), link: "/zip"},
		{script: later("location = '/none'; setTimeout(() => { location = '/slow' }, 2800)")}, // the wait for the first is over by then
		{script: "let n = 0; setInterval(() => { location = '/none?' + n++ }, 100)"},
		{script: "let n = 0; setInterval(() => { location = '/slow?' + n++ }, 100)"}, // each replaces the one before
		{script: "history.back()"},
		{script: later("history.back()")},
		{script: "history.go(-1)"},
		{script: later("history.go(-2)")},
		{script: "window.close()"},
		{script: later("window.close()")},
		{script: later("open('', '_self').close()")},
		{script: later("location = 'mailto:a@b.example'")},
		{script: "location = '/html'", leaves: true},
		{script: later("location = '/html'"), leaves: true},
		{script: later("location = '/to-html'"), leaves: true},
		{script: later("location = '/missing'"), leaves: true},
		{script: later("location = '/hangs'"), leaves: true},
		{script: later("location = '/none'; setTimeout(() => { location = '/html' }, 200)"), leaves: true},
	} {
		const text = "the text of the page"
		html, asked := showBare(t, r, web.URL, "/page", "<p>"+text+"</p><script>"+tt.script+"</script>", crawlspec.UntilIdle)
		if leaves := html == ""; leaves != tt.leaves || !leaves && !strings.Contains(html, text) {
			t.Errorf("%s: it leaves: %v after %v, %s", tt.script, leaves, asked, html)
		}
		if tt.link != "" && !strings.Contains(html, `<a href="`+web.URL+tt.link+`">`) {
			t.Errorf("%s: it has no link to %s: %s", tt.script, tt.link, html)
		}
	}
	const router = `<p></p><script>history.pushState(1, '', '/page/2'); addEventListener('popstate', () => { document.querySelector('p').textContent = 'back in the page' }); history.back()</script>`
	if html, _ := showBare(t, r, web.URL, "/page", router, crawlspec.UntilIdle); !strings.Contains(html, "back in the page") {
		t.Errorf("a page cannot go back within itself: %s", html)
	}
}
