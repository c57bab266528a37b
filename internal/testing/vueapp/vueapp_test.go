package vueapp

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"seine/internal/testing/await"
	"seine/internal/testing/browser"
)

// A hundred items give three pages of lamps and of chairs, and two of offers.
const items = 100

func TestEveryRouteIsTheSameShell(t *testing.T) {
	app := Start(t, items)
	shell, _ := get(t, app.URL()+"/")
	for _, path := range []string{"/about", "/category/lamps", "/item/1", "/item/none"} {
		if text, _ := get(t, app.URL()+path); text != shell {
			t.Errorf("%s is not the shell of /:\n%s", path, text)
		}
	}
	for _, item := range app.Items() {
		for _, text := range []string{item.Name, item.Description, item.Path} {
			if strings.Contains(shell, text) {
				t.Errorf("the shell has %q", text)
			}
		}
	}
}

func TestItemsDiffer(t *testing.T) {
	app := Start(t, items)
	seen := map[string]bool{}
	for _, item := range app.Items() {
		for _, text := range []string{item.Name, item.Description, item.Path} {
			if seen[text] {
				t.Errorf("two items have %q", text)
			}
			seen[text] = true
		}
	}
}

func TestAssetsMayBeKept(t *testing.T) {
	app := Start(t, items)
	shell, _ := get(t, app.URL()+"/")
	_, script, _ := strings.Cut(shell, `src="`)
	script, _, _ = strings.Cut(script, `"`)
	_, header := get(t, app.URL()+script)
	if got := header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control of %q is %q", script, got)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	app := Start(t, items)
	for _, path := range []string{"/robots.txt", "/assets/", "/assets/none.js", "/api/none", "/api/items/0", "/api/items/101",
		"/api/categories/none/items?page=1", "/api/categories/lamps/items?page=0", "/api/categories/lamps/items"} {
		r, err := http.Get(app.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusNotFound {
			t.Errorf("%s has the status %d", path, r.StatusCode)
		}
	}
}

func TestRequestsAreCountedWithTheirQuery(t *testing.T) {
	app := Start(t, items)
	get(t, app.URL()+"/about")
	get(t, app.URL()+"/api/categories/lamps/items?page=2")
	get(t, app.URL()+"/api/categories/lamps/items?page=2")
	for path, want := range map[string]int{"/about": 1, "/api/categories/lamps/items?page=2": 2, "/api/categories/lamps/items?page=1": 0} {
		if got := app.Count(path); got != want {
			t.Errorf("%s has %d requests, not %d", path, got, want)
		}
	}
}

func TestBrowserShowsTheShop(t *testing.T) {
	app := Start(t, items)
	chromium := browser.Start(t)

	t.Run("home links to every category", func(t *testing.T) {
		tab := chromium.Open()
		tab.Go(app.URL() + "/")
		for _, c := range categories(app.items) {
			tab.Shows(fmt.Sprintf("%s (%d items)", c.Title, c.Items))
			tab.Holds(fmt.Sprintf(`document.querySelector("main a[href='/category/%s']")`, c.Name))
		}
	})
	t.Run("about is static", func(t *testing.T) {
		tab := chromium.Open()
		tab.Go(app.URL() + "/about")
		tab.Shows("lamps, chairs and tables since 1923")
	})
	for _, c := range categories(app.items) {
		t.Run(c.Name+" shows its first items, and the others by "+c.loadsBy, func(t *testing.T) {
			showsAll(t, app, chromium.Open(), c)
		})
	}
	t.Run("item shows its text", func(t *testing.T) {
		tab := chromium.Open()
		item := app.Items()[16]
		tab.Go(app.URL() + item.Path)
		tab.Shows(item.Name)
		tab.Shows(item.Price)
		tab.Shows(item.Description)
		tab.Holds(`document.title === "` + item.Name + `"`)
	})
	t.Run("item that is not there", func(t *testing.T) {
		tab := chromium.Open()
		tab.Allow("404")
		tab.Go(app.URL() + "/item/101")
		tab.Shows("This item cannot be shown")
	})
	t.Run("item page is loaded with the first item", func(t *testing.T) {
		tab := chromium.Open()
		lazy := `performance.getEntriesByType("resource").some(e => e.name.includes("/assets/ItemPage-"))`
		tab.Go(app.URL() + "/category/chairs")
		tab.Holds(`document.querySelector("main li a")`)
		tab.Holds("!" + lazy)
		tab.Eval(`document.querySelector("main li a").click()`, nil)
		tab.Shows(app.Items()[0].Description)
		tab.Holds(lazy)
	})
}

// showsAll checks that a category shows a page of items and loads one more page for each trigger.
func showsAll(t *testing.T, app *App, tab *browser.Tab, c category) {
	t.Helper()
	more := map[string]string{
		"scroll": `scrollTo(0, document.documentElement.scrollHeight)`,
		"button": `document.querySelector("button.more")?.click()`,
	}[c.loadsBy]
	tab.Size(1280, 800)
	tab.Go(app.URL() + "/category/" + c.Name)
	all := c.of(app.items)
	for shown := pageSize; ; shown += pageSize {
		tab.Holds(fmt.Sprintf(`document.querySelectorAll("main li").length === %d`, min(shown, len(all))))
		if shown >= len(all) {
			break
		}
		tab.Eval(more, nil)
	}
	for _, item := range all {
		tab.Holds(fmt.Sprintf(`document.querySelectorAll("main a[href='%s']").length === 1`, item.Path))
		tab.Shows(item.Name)
	}
	await.Eventually(t, "offer no more", func() bool {
		text := tab.Text()
		return !strings.Contains(text, "More") && !strings.Contains(text, "Loading")
	})
	for page := 1; page <= (len(all)+pageSize-1)/pageSize; page++ {
		path := fmt.Sprintf("/api/categories/%s/items?page=%d", c.Name, page)
		if got := app.Count(path); got != 1 {
			t.Errorf("%s has %d requests", path, got)
		}
	}
}

// get returns the body and the headers of a URL.
func get(t *testing.T, url string) (string, http.Header) {
	t.Helper()
	r, err := http.Get(url) //nolint:gosec // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", url, r.StatusCode, err)
	}
	return string(text), r.Header
}
