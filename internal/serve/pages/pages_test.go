package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"seine/internal/serve"
	"seine/internal/testing/await"
	"seine/internal/testing/axe"
	"seine/internal/testing/browser"
	"seine/pkg/messages"
)

// hostileTitle is the title of a test page and hostilePath its path: showing either unescaped would
// run the site's script.
const (
	hostileTitle = `<script>document.title="broken into"</script><img src=x onerror="document.title='broken into'">`
	hostilePath  = `/evil%22%3E%3Cscript%3E`
)

// shop crawls a site with failures and one hostile page. The crawl is complete when it returns.
func shop(t *testing.T) (c *fixture, seed string) {
	t.Helper()
	c = newFixture(t)
	web, seed := site(t, 30)
	web.Handle(0, hostilePath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title><p>hello</p><a href='javascript:alert(1)'>x</a>",
			strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(hostileTitle))
	})
	c.crawl("shop", "delay: 0s\n", seed+"/", seed+hostilePath)
	await.Eventually(t, "complete the crawl", func() bool {
		o := c.overview()
		return o != nil && len(o.Crawls) == 1 && o.Crawls[0].Done > 30 && o.Crawls[0].Pending() == 0
	})
	return c, seed
}

// dead adds n dead letters, some with the same cause.
func (c *fixture) dead(n int) {
	c.t.Helper()
	from := c.letters
	c.letters += n
	for i := from; i < c.letters; i++ {
		d := messages.Dead{
			Stage: messages.StageParser, Crawl: "shop", Reason: fmt.Sprintf("record has a line break at byte %d", i), Stream: messages.StreamPages,
			Subject: messages.SubjectPages("shop", 0), Sequence: uint64(i + 1), Time: time.Now(), Payload: []byte(`{"url":"https://shop.example/` + fmt.Sprint(i) + `"}`),
		}
		if i%5 == 4 {
			d.Reason = "<script>alert(1)</script> is no URL"
		}
		if _, err := c.bus.JS.PublishMsg(c.t.Context(), d.Msg()); err != nil {
			c.t.Fatal(err)
		}
	}
	await.Eventually(c.t, "see the dead letters", func() bool { o := c.overview(); return o != nil && o.Dead >= uint64(n) })
}

// all returns the read-only pages about a crawl of a site.
func all(seed string) []string {
	at, _ := url.Parse(seed)
	q := url.QueryEscape
	return []string{
		"/", "/?span=day", "/crawls", "/crawls/shop", "/crawls/shop/spec", "/crawls/shop/exclude?pattern=*", "/crawls/shop/replay", "/hosts", "/hosts/" + at.Host, "/errors", "/errors?crawl=shop", "/errors?crawl=shop&class=gone",
		"/explain", "/explain?crawl=shop&url=" + q(seed+"/"), "/explain?crawl=shop&url=" + q(seed+hostilePath), "/dead", "/dead/1", "/records?crawl=shop", "/files", "/processes", "/settings", "/login",
		"/new", "/new?yaml=1", "/search?q=s", "/seeds?crawl=shop", "/audit", "/no/such/page", "/explain?crawl=shop&url=" + q(seed+"/unknown"),
	}
}

// Every page is accessible: by keyboard, with a screen reader, in light and dark colours, on a
// phone. No page violates its own policy, has a script error, or is wider than the window.
func TestEveryPageIsForEverybody(t *testing.T) {
	t.Parallel()
	c, seed := shop(t)
	c.dead(12)
	c.replay("shop", url.Values{"of": {"pages"}, "spec": {"records: [{kind: thing, fields: {name: {css: nothing, required: true}}}]"}})
	tab := c.tab()
	tab.Allow("404")
	for _, path := range all(seed) {
		tab.Size(390, 900)
		tab.Dark(false)
		tab.Go(c.url + path)
		checkWidth(t, tab, path)
		axe.Check(t, tab)
		tab.Dark(true)
		axe.CheckContrast(t, tab)
		tab.Size(1280, 900) // the layout is the same for all larger windows
		tab.Go(c.url + path)
		checkWidth(t, tab, path)
		axe.Check(t, tab)
		tab.Dark(false)
		axe.CheckContrast(t, tab)
		tab.Size(2560, 900)
		checkWidth(t, tab, path)
	}
}

func checkWidth(t *testing.T, tab *browser.Tab, path string) {
	t.Helper()
	var window, beyond int
	tab.Eval("document.documentElement.clientWidth", &window)
	tab.Eval("document.documentElement.scrollWidth - document.documentElement.clientWidth", &beyond)
	if beyond > 0 {
		t.Errorf("%s is %d px wider than a window of %d px", path, beyond, window)
	}
	var cut []string
	tab.Eval(`[...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth + 1 || e.querySelector("thead") && !e.querySelector("tbody tr")).map(e => e.ariaLabel)`, &cut)
	if len(cut) > 0 {
		t.Errorf("%s at %d px: columns are cut off, or there are none below their heads: %q", path, window, cut)
	}
}

// The longest names of crawls, hosts, paths and folders wrap, so that no page becomes wider than
// its window.
func TestLongNamesFitTheWindow(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	_, seed := site(t, 3)
	name, host := strings.Repeat("shop", 15)+"sho", strings.Repeat("b", 63)+"."+strings.Repeat("c", 63)+".example"
	c.crawl(name, "delay: 1h\nalerts: {disk_free: 1000TB}\n", seed+"/", "http://"+host+"/"+strings.Repeat("path", 60))
	await.Eventually(t, "raise the alert, which names folders", func() bool { o := c.overview(); return o != nil && len(o.Alerts) > 0 })
	tab := c.tab()
	tab.Allow("404")
	paths := append([]string{"/hosts/" + host, "/search?q=bbb"}, all(seed)...)
	for _, width := range []int64{390, 1280} {
		tab.Size(width, 900)
		for _, path := range paths {
			path = strings.NewReplacer("shop", name, "q=s", "q="+name).Replace(path)
			tab.Go(c.url + path)
			checkWidth(t, tab, path)
		}
	}
}

// An isolated value in a chart is drawn as a dot, because a line needs two values.
func TestIsolatedValuesOfChartsAreDrawn(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	tab := c.tab()
	tab.Go(c.url + "/")
	tab.Holds(`import(document.querySelector("script[type=module]").src.replace("seine.js", "charts.js")).then(m => JSON.stringify(m.alone({ data: [[], [1, null, 2, 3, null, 0, undefined, 4]] }, 1)) === "[0,5,7]")`)
}

// Text from sites is never interpreted as markup, and their URLs are links only if a browser opens
// them safely.
func TestTextOfSitesIsNeverMarkup(t *testing.T) {
	t.Parallel()
	c, seed := shop(t)
	c.dead(5)
	tab := c.tab()
	for path, shows := range map[string]string{
		"/records?crawl=shop": hostileTitle,
		"/dead":               "<script>alert(1)</script> is no URL",
		"/explain?crawl=shop&url=" + url.QueryEscape(`javascript:alert("x")//<script>`): "javascript:alert",
		"/explain?crawl=shop&url=" + url.QueryEscape(seed+hostilePath):                  hostilePath,
		"/errors?crawl=shop&q=" + url.QueryEscape(`"><script>alert(1)</script>`):        "No failed URL matches",
	} {
		if strings.Contains(path, "javascript") {
			tab.Allow("400")
		}
		tab.Go(c.url + path)
		tab.Shows(shows)
		var bad int
		tab.Eval(`document.querySelectorAll("script:not([src]), img:not([src*='/static/']), [onerror], [style]:not(.plot *):not(.plot), a[href^='javascript:' i]").length`, &bad)
		if bad > 0 {
			t.Errorf("%s has %d elements that no template made", path, bad)
		}
		var title string
		tab.Eval("document.title", &title)
		if strings.Contains(title, "broken into") {
			t.Errorf("%s ran the script of a site", path)
		}
	}
}

// Committed files are listed for all writers, and can be inspected without a download.
func TestFilesOfTheOutputAreLookedInto(t *testing.T) {
	t.Parallel()
	c, _ := shop(t)
	tab := c.tab()
	c.until("/files?crawl=shop", ".jsonl.zst")
	tab.Go(c.url + "/crawls/shop")
	tab.Eval(`[...document.querySelectorAll("main a")].find(a => a.textContent === "Files").click()`, nil)
	tab.Holds(`document.querySelector("#list tbody a")`)
	axe.Check(t, tab)
	tab.Eval(`document.querySelector("#list tbody a").click()`, nil)
	tab.Holds(`document.querySelector("details.record")`)
	tab.Eval(`document.querySelector("details.record summary").click()`, nil)
	tab.Holds(`JSON.parse(document.querySelector("details[open] pre").textContent).url.startsWith("http://")`)
	axe.Check(t, tab)
	c.says("/files?crawl=shop&before=0/0-99999", "That was refused")
	c.says("/files?writer=nobody", "no writer named nobody has written anything yet")
	c.says("/files/view?path=none", "No records to show")
}

// Without scripts, the pages show everything except charts.
func TestPagesAreReadWithoutScripts(t *testing.T) {
	t.Parallel()
	c, seed := shop(t)
	c.dead(12)
	c.until("/", "most") // in a chart, which has more than one point then
	at, _ := url.Parse(seed)
	for path, want := range map[string][]string{
		"/":                             {"Crawls with work", "fetcher", "RECORDS"},
		"/crawls":                       {"shop", "complete"},
		"/crawls?q=nothing":             {"No crawl matches"},
		"/crawls/shop":                  {"Requests by outcome", "gone", "Runs"},
		"/crawls/shop/spec":             {"allow_private", "@every 720h"},
		"/hosts/" + at.Host:             {"robots.txt", "Its last answers"},
		"/errors":                       {"/errors?class=gone&amp;crawl=shop"},
		"/errors?crawl=shop&class=gone": {"By host", at.Host},
		"/explain?crawl=shop&url=" + url.QueryEscape(seed+"/"): {"done", "a seed", "attempt"},
		"/dead":               {"12 in all", "record has a line break at byte", "By cause"},
		"/dead/1":             {"Payload", "shop.example"},
		"/processes":          {"all 4 have an owner", "crawl"},
		"/settings":           {"Colours"},
		"/records?crawl=shop": {"page", "Where they are written"},
	} {
		c.says(path, want...)
	}
	for path, want := range map[string]int{
		"/crawls/none": 404, "/crawls/not%20a%20name": 400, "/hosts?sort=size": 400, "/dead/999": 404, "/dead/x": 400, "/dead?since=soon": 400, "/crawls?page=0": 400,
		"/?span=year": 400, "/none": 404, "/errors?crawl=shop&class=bad": 400, "/explain?crawl=shop&url=javascript:alert(1)": 400,
	} {
		if status, text := c.get(path); status != want || !strings.Contains(text, "<h1>") {
			t.Errorf("%s: %d, want %d and a page that says why", path, status, want)
		}
	}
}

// An open page follows the crawl, in all tabs over one connection, until a user pauses it in one of
// them.
func TestOpenPagesFollowTheCrawlUntilTheyArePaused(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	web, seed := site(t, 40)
	release := make(chan struct{})
	web.Handle(0, "/held", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNotFound)
	})
	b := browser.Start(t)
	first := b.Open()
	first.Go(c.url + "/crawls")
	first.Shows("No crawl exists yet")
	second := b.Open()
	second.Go(c.url + "/")
	second.Shows("Live")
	c.crawl("shop", "delay: 0s\n", seed+"/held")
	first.Shows("shop")
	first.Run(chromedp.Evaluate(`document.getElementById("pause").click()`, nil))
	first.Shows("Paused")
	second.Shows("Paused")
	close(release)
	await.Eventually(t, "fail the URL", func() bool {
		o := c.overview()
		return len(o.Crawls) == 1 && o.Crawls[0].Failed == 1
	})
	var changed bool
	first.Eval(`document.querySelector("a[href='/errors?crawl=shop']") !== null`, &changed)
	if changed {
		t.Error("a paused page has changed")
	}
	second.Run(chromedp.Evaluate(`document.getElementById("pause").click()`, nil))
	first.Shows("Live")
	first.Holds(`document.querySelector("a[href='/errors?crawl=shop']")`)
}

// A lost connection is reported, and the page catches up once the connection is back.
func TestLostConnectionIsToldAndComesBack(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	c.until("/", "No crawl exists yet")
	c.broker.Stop()
	c.until("/", "NATS cannot be reached")
	c.broker.Start()
	await.Eventually(t, "come back", func() bool {
		c.feed.Refresh()
		_, text := c.get("/")
		return !strings.Contains(text, "NATS cannot be reached") && !strings.Contains(text, "does not answer")
	})
}

// Behind a proxy with a path prefix, every URL has the prefix.
func TestPagesAreBelowAPrefix(t *testing.T) {
	t.Parallel()
	c := newFixture(t, func(o *serve.Options) { o.PathPrefix = "/seine" })
	tab := c.tab()
	tab.Go(c.url + "/")
	tab.Shows("No crawl exists yet")
	tab.Run(chromedp.Evaluate(`[...document.querySelectorAll("nav a")].find(a => a.textContent.includes("Settings")).click()`, nil))
	tab.Shows("This server")
	if tab.Path() != "/seine/settings" {
		t.Errorf("the link leads to %s", tab.Path())
	}
}

// The chosen colour scheme applies to all pages and needs no script. A form on another site cannot
// change it.
func TestColoursAreChosenWithoutScripts(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	tab := c.tab()
	tab.Go(c.url + "/settings")
	tab.WithoutScripts()
	tab.Run(chromedp.Click(`//section//button[text()="Dark"]`, chromedp.BySearch))
	tab.Holds(`document.documentElement?.dataset.theme === "dark"`)
	tab.Go(c.url + "/crawls")
	tab.Holds(`getComputedStyle(document.body).backgroundColor === "rgb(14, 19, 24)"`)

	req, _ := http.NewRequest(http.MethodPost, c.url+"/settings/theme", strings.NewReader("theme=dark"))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "https://evil.example")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a form of another site: %s", resp.Status)
	}
}

// After a form, the browser is redirected only to pages of this server, whatever the form says.
func TestFormsLeadBackToThisServerAlone(t *testing.T) {
	for from, want := range map[string]string{
		"/crawls?q=a%20b": "/crawls?q=a%20b", "": "/", "//evil.example/": "/", "https://evil.example/": "/", `/\evil.example`: "/", "javascript:x": "/",
	} {
		if got := backTo(from); got != want {
			t.Errorf("from %q to %q, want %q", from, got, want)
		}
	}
}

// Vendored files are the published ones, or the output of their script.
func TestVendoredFilesAreThoseThatWerePublished(t *testing.T) {
	for folder, files := range map[string]int{"uplot": 3, "codemirror": 2} {
		folder = filepath.Join("static", folder)
		text, err := os.ReadFile(filepath.Join(folder, "VENDORED.json"))
		if err != nil {
			t.Fatal(err)
		}
		var of struct {
			Files map[string]string `json:"sha256"`
		}
		if err := json.Unmarshal(text, &of); err != nil {
			t.Fatal(err)
		}
		if len(of.Files) != files {
			t.Errorf("%s: %d files", folder, len(of.Files))
		}
		for name, want := range of.Files {
			if got := sha256Of(t, filepath.Join(folder, name)); got != want {
				t.Errorf("%s/%s: SHA-256 %s, want %s", folder, name, got, want)
			}
		}
	}
}

// Only the static files that the pages load are served.
func TestStaticFilesAreThoseOfThePages(t *testing.T) {
	for path, want := range map[string]int{
		"/static/x/seine.css": 200, "/static/x/uplot/uPlot.iife.min.js": 200, "/static/x/spec.schema.json": 200, "/static/x/codemirror/codemirror.js": 200, "/static/x/uplot/LICENSE": 404, "/static/x/codemirror/VENDORED.json": 404, "/static/x/../pages.go": 404, "/static/": 404, "/static/x/none.js": 404,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.Path = path
		serveStatic(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
