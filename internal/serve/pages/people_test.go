package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"

	"seine/internal/testing/browser"
)

// tabTo presses Tab until an element with a text has the focus, and checks that the focus is
// visible.
func tabTo(t *testing.T, tab *browser.Tab, selector, text string) {
	t.Helper()
	for range 100 {
		key(tab, kb.Tab)
		var at struct{ Is, Seen bool }
		tab.Eval(fmt.Sprintf(`(el => ({
			Is: el.matches(%q) && el.textContent.trim().startsWith(%q),
			Seen: getComputedStyle(el).outlineStyle !== "none",
		}))(document.activeElement)`, selector, text), &at)
		if at.Is && !at.Seen {
			t.Errorf("nobody sees that %q has the focus", text)
		}
		if at.Is {
			return
		}
	}
	t.Fatalf("%s: Tab does not lead to %s %q", tab.Path(), selector, text)
}

// A user without a mouse skips the menu, opens a crawl, pauses it, and cancels it after a
// confirmation. The focus stays when the page updates.
func TestCrawlIsSteeredByKeyboard(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	_, seed := site(t, 400)
	c.crawl("shop", "delay: 100ms\n", seed+"/")
	c.until("/crawls/shop", "Pause")
	tab := c.tab()
	tab.Go(c.url + "/crawls")
	tabTo(t, tab, "a.skip", "Skip")
	key(tab, kb.Enter)
	tab.Holds(`document.activeElement.id === "main"`)
	tabTo(t, tab, "main a", "shop")
	key(tab, kb.Enter)
	tab.Holds(`location.pathname === "/crawls/shop" && document.readyState === "complete"`)
	tabTo(t, tab, "#controls button", "Pause")
	tab.Eval(`window.done = document.querySelector("#tiles").textContent`, nil)
	tab.Holds(`document.querySelector("#tiles").textContent !== window.done && document.activeElement.textContent.trim() === "Pause"`)
	key(tab, kb.Enter)
	tab.Shows("Crawl shop is paused")
	tabTo(t, tab, "#controls summary", "Cancel")
	key(tab, kb.Enter)
	tabTo(t, tab, "#controls button", "Cancel the crawl")
	key(tab, kb.Enter)
	tab.Shows("Crawl shop is cancelled")
}

// Times are in the reader's time zone, wherever the server is.
func TestTimesAreInTheZoneOfTheReader(t *testing.T) {
	t.Parallel()
	c, _ := shop(t)
	c.dead(1)
	tab := c.tab()
	for _, name := range []string{"Asia/Tokyo", "America/St_Johns"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		tab.Run(emulation.SetTimezoneOverride(name))
		tab.Go(c.url + "/dead/1")
		tab.Holds(`document.querySelector("main time").title !== ""`)
		var shown struct{ At, Text string }
		tab.Eval(`(el => ({At: el.dateTime, Text: el.textContent}))(document.querySelector("main time"))`, &shown)
		at, err := time.Parse(time.RFC3339Nano, shown.At)
		if want := at.In(zone).Format("Jan 2, 2006, 3:04:05 PM"); err != nil || strings.ReplaceAll(shown.Text, "\u202f", " ") != want {
			t.Errorf("%s: %s is shown as %q, want %q (%v)", name, shown.At, shown.Text, want, err)
		}
	}
}
