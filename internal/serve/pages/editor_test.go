package pages

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"seine/internal/testing/axe"
	"seine/internal/testing/browser"
	"seine/internal/testing/slow"
)

// openEditor opens a page with a spec editor.
func openEditor(t *testing.T) *browser.Tab {
	t.Helper()
	c := newFixture(t)
	tab := c.tab()
	tab.Go(c.url + "/new?yaml=1")
	tab.Holds(`document.querySelector(".cm-content")`)
	return tab
}

// enter focuses the editor and selects all of its text.
func enter(tab *browser.Tab) {
	tab.Eval(`document.querySelector(".cm-content").focus()`, nil)
	key(tab, "a", chromedp.KeyModifiers(input.ModifierCtrl))
}

// offered waits until the editor's list has these names, with the first one selected, and accepts
// keys: it ignores them in the first moment, when a key is meant for the text.
func offered(tab *browser.Tab, names ...string) {
	tab.Holds(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll(".cm-tooltip-autocomplete .cm-completionLabel")].map(b => b.textContent)) === %q`, mustJSON(names)))
	tab.Holds(`document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.matches("[aria-selected]:first-child")`)
	tab.Holds(`(list => list && (list.since ??= performance.now()) + 100 < performance.now())(document.querySelector(".cm-tooltip-autocomplete"))`)
}

// chosen waits until a name in the list is selected.
func chosen(tab *browser.Tab, name string) {
	tab.Holds(fmt.Sprintf(`document.querySelector(".cm-tooltip-autocomplete [aria-selected] .cm-completionLabel")?.textContent === %q`, name))
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// closed waits until no list is open.
func closed(tab *browser.Tab) { tab.Holds(`!document.querySelector(".cm-tooltip-autocomplete")`) }

// written waits until the field that the form sends has a text.
func written(tab *browser.Tab, text string) {
	tab.Holds(fmt.Sprintf(`document.querySelector("textarea[data-schema]").value === %q`, text))
}

// key presses keys in sequence. Enter is sent with its text, as a keyboard does: chromedp sends two
// events, and Chromium treats the second as another key, which cannot be prevented.
func key(tab *browser.Tab, keys string, modifiers ...chromedp.KeyOption) {
	for i, part := range strings.Split(keys, kb.Enter) {
		if i > 0 {
			enter := input.DispatchKeyEvent(input.KeyDown).WithKey("Enter").WithCode("Enter").WithText("\r").WithWindowsVirtualKeyCode(13)
			tab.Run(enter)
			tab.Run(input.DispatchKeyEvent(input.KeyUp).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13))
		}
		if part != "" {
			tab.Run(chromedp.KeyEvent(part, modifiers...))
		}
	}
}

// A user writes a spec by keyboard only: candidates are listed, selected, inserted, dismissed and
// undone; keys are described; Escape and Tab leave the editor.
func TestSpecIsCompletedByKeyboard(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	tab := c.tab()
	for _, width := range []int64{390, 1280} {
		tab.Size(width, 844)
		tab.Dark(width == 1280)
		tab.Go(c.url + "/new?yaml=1")
		tab.Holds(`document.querySelector(".cm-content")`)
		tab.Holds(`document.getElementById(document.querySelector(".cm-content").getAttribute("aria-describedby")).textContent.includes("Escape, then Tab, leaves the editor")`)
		tab.Eval(`document.querySelector("label[for=spec]").click()`, nil)
		tab.Holds(`document.activeElement.matches(".cm-content")`)
		axe.Check(t, tab)
		enter(tab)
		key(tab, "dela")
		offered(tab, "delay", "delay_factor", "max_delay")
		axe.Check(t, tab)
		tab.Holds(`(list => list.top >= 0 && list.bottom <= innerHeight && list.left >= 0 && list.right <= innerWidth)(document.querySelector(".cm-tooltip-autocomplete").getBoundingClientRect())`)
		key(tab, kb.ArrowDown)
		chosen(tab, "delay_factor")
		key(tab, kb.ArrowUp+kb.ArrowUp)
		chosen(tab, "max_delay")
		key(tab, kb.ArrowDown+kb.Enter)
		written(tab, "delay: ")
		tab.Shows("delay: text such as 500ms, 1s, 2h, 7d")
		closed(tab)
		key(tab, "1s"+kb.Enter+"bre")
		offered(tab, "breaker")
		key(tab, kb.Tab)
		written(tab, "delay: 1s\nbreaker:\n  ")
		key(tab, " ", chromedp.KeyModifiers(input.ModifierCtrl))
		offered(tab, "failures", "max_wait", "probes", "wait")
		key(tab, kb.Escape)
		closed(tab)
		key(tab, "wait: 1s"+kb.Enter+kb.Backspace+"state: ")
		key(tab, "pau")
		written(tab, "delay: 1s\nbreaker:\n  wait: 1s\nstate: pau")
		offered(tab, "paused")
		key(tab, kb.Enter)
		written(tab, "delay: 1s\nbreaker:\n  wait: 1s\nstate: paused")
		tab.Shows("running, paused, cancelled")
		key(tab, "z", chromedp.KeyModifiers(input.ModifierCtrl))
		written(tab, "delay: 1s\nbreaker:\n  wait: 1s\nstate: pau")
		key(tab, " ", chromedp.KeyModifiers(input.ModifierCtrl))
		offered(tab, "paused")
		key(tab, kb.Escape)
		closed(tab)
		key(tab, kb.Tab)
		tab.Holds(`document.activeElement.name === "try"`)
		key(tab, kb.Tab, chromedp.KeyModifiers(input.ModifierShift))
		tab.Holds(`document.activeElement.matches(".cm-content")`)
	}
}

// Violations of the schema are marked. F8 leads to them, and shows the message, as does the mouse.
func TestProblemsOfASpecAreMarked(t *testing.T) {
	t.Parallel()
	tab := openEditor(t)
	enter(tab)
	key(tab, "max_pages: many"+kb.Enter+"dela: 1s")
	tab.Holds(`JSON.stringify([...document.querySelectorAll(".cm-lintRange-error")].map(m => m.textContent)) === '["many","dela"]'`)
	key(tab, kb.Home)
	tab.Shows("There is no key dela here.")
	axe.Check(t, tab)
	key(tab, kb.F8)
	tab.Holds(`document.querySelector(".cm-tooltip-lint")?.textContent === "There is no key dela here."`)
	key(tab, kb.F8)
	tab.Holds(`document.querySelector(".cm-tooltip-lint")?.textContent === "Must be whole number."`)
	tab.Holds(`document.querySelector(".key-help").textContent.startsWith("Must be whole number. max_pages: whole number")`)
	axe.Check(t, tab)
	key(tab, "7")
	written(tab, "max_pages: 7\ndela: 1s")
	tab.Holds(`document.querySelectorAll(".cm-lintRange-error").length === 1`)
}

// Hovering over a key shows its description.
func TestKeyUnderTheMouseIsDescribed(t *testing.T) {
	t.Parallel()
	tab := openEditor(t)
	enter(tab)
	key(tab, "robots: obey")
	tab.Holds(`document.querySelector(".tok-propertyName")`)
	var at struct{ X, Y float64 }
	tab.Eval(`(box => ({X: box.x + box.width / 2, Y: box.y + box.height / 2}))(document.querySelector(".tok-propertyName").getBoundingClientRect())`, &at)
	tab.Run(chromedp.MouseEvent(input.MouseMoved, at.X-5, at.Y), chromedp.MouseEvent(input.MouseMoved, at.X, at.Y))
	tab.Holds(`document.querySelector(".cm-tooltip-hover")?.textContent.startsWith("robots: obey, ignore, ")`)
	axe.Check(t, tab)
}

// The initial text in the editor of a crawl is JSON: names are completed with their quotes, also
// with a mouse, and after multi-byte characters. The form sends the written text.
func TestJSONOfASpecIsCompletedAndSent(t *testing.T) {
	t.Parallel()
	c, _ := shop(t)
	tab := c.tab()
	tab.Go(c.url + "/crawls/shop/spec")
	tab.Holds(`document.querySelector(".cm-content")`)
	enter(tab)
	tab.Run(input.InsertText(`{"exclude": ["/😀é"], }`))
	key(tab, kb.ArrowLeft)
	key(tab, `"robo`)
	offered(tab, "robots")
	tab.Eval(`document.querySelector(".cm-tooltip-autocomplete li").dispatchEvent(new MouseEvent("mousedown", { bubbles: true }))`, nil)
	written(tab, `{"exclude": ["/😀é"], "robots": }`)
	key(tab, " ", chromedp.KeyModifiers(input.ModifierCtrl))
	offered(tab, "obey", "ignore")
	axe.Check(t, tab)
	key(tab, kb.ArrowDown)
	chosen(tab, "ignore")
	key(tab, kb.Enter)
	written(tab, `{"exclude": ["/😀é"], "robots": "ignore"}`)
	press(tab, ".fields", "Check")
	tab.Shows(`+ exclude[0]: "/😀é"`)
	tab.Shows(`+ robots: "ignore"`)
	written(tab, `{"exclude": ["/😀é"], "robots": "ignore"}`)
}

// Without the schema or without scripts the field is a plain text field that the form sends.
func TestFieldOfASpecIsPlainWithoutAnEditor(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	tab := c.tab()
	tab.Allow("ERR_BLOCKED_BY_CLIENT")
	tab.Run(network.Enable(), network.SetBlockedURLs([]string{"*/spec.schema.json"}))
	tab.Go(c.url + "/new?yaml=1")
	tab.Holds(`performance.getEntriesByType("resource").some(e => e.name.endsWith("/codemirror.js"))`)
	writePlain := func() {
		tab.Eval(`document.querySelector("#spec").focus()`, nil)
		key(tab, "a", chromedp.KeyModifiers(input.ModifierCtrl))
		key(tab, "dela"+kb.Enter+"x")
		written(tab, "dela\nx")
	}
	writePlain()
	tab.WithoutScripts()
	tab.Go(c.url + "/new?yaml=1&url=https://example.org/")
	writePlain()
	tab.Allow("422")
	tab.Run(chromedp.Click(".fields button.primary", chromedp.ByQuery))
	tab.Holds(`document.querySelector("[role=alert]")`)
	written(tab, "dela\nx")
}

// The vendored CodeMirror is the script's output for the packages in the lock file.
func TestVendoredEditorIsWhatItsScriptMakes(t *testing.T) {
	t.Parallel()
	slow.Skip(t)
	if _, err := exec.LookPath("npm"); err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no npm here")
	}
	made := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "../../../scripts/editor", made).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"codemirror.js", "LICENSE", "VENDORED.json"} {
		if got, want := sha256Of(t, filepath.Join("static/codemirror", name)), sha256Of(t, filepath.Join(made, name)); got != want {
			t.Errorf("%s: SHA-256 %s; scripts/editor makes one of %s", name, got, want)
		}
	}
}
