package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"seine/internal/run/specfile"
	"seine/internal/testing/axe"
	"seine/internal/testing/browser"
)

// question asks for the completion of a text at a line and a column.
func (c *fixture) question(body string, header ...string) (status int, answer string) {
	c.t.Helper()
	r, err := http.NewRequest(http.MethodPost, c.url+"/specs/completion", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// Questions about a text are answered, are bounded, come from no other site, and leave nothing in the audit.
func TestCompletionIsAskedFor(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	if status, answer := c.question(`{"text": "delay_", "line": 1, "column": 7}`); status != http.StatusOK || !strings.Contains(answer, `"insert":"delay_factor: "`) {
		t.Errorf("%d %s", status, answer)
	}
	largest, _ := json.Marshal(map[string]any{"text": strings.Repeat("\n", specfile.MaxSize), "line": 1, "column": 1})
	for body, want := range map[string]int{
		"": 400, "[]": 400, `{"text": "a", "line": "1"}`: 400, `{"text": "a", "line": 2, "column": 1}`: 422, `{}`: 422, string(largest): 200,
		`{"text": "` + strings.Repeat("x", specfile.MaxSize+1) + `", "line": 1, "column": 1}`: 422, strings.Repeat("x", maxCompletion+1): 413,
	} {
		if status, answer := c.question(body); status != want {
			t.Errorf("%.40q: %d %.200s, want %d", body, status, answer, want)
		}
	}
	if status, _ := c.question(`{"text": "", "line": 1, "column": 1}`, "Origin", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("of another site: %d", status)
	}
	c.until("/audit", "Audit")
	if _, text := c.get("/audit"); strings.Contains(text, "completion") {
		t.Errorf("the audit has questions:\n%s", text)
	}
}

// openEditor opens the page with an editor of a spec.
func openEditor(t *testing.T) *browser.Tab {
	t.Helper()
	c := newFixture(t)
	tab := c.tab()
	tab.Go(c.url + "/new")
	tab.Holds(`document.querySelector(".key-help")`)
	return tab
}

// offered waits until the list of an editor has these names, the first of them chosen.
func offered(tab *browser.Tab, names ...string) {
	tab.Holds(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll(".candidates:not([hidden]) b")].map(b => b.textContent)) === %q`, mustJSON(names)))
	tab.Holds(`document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.ariaSelected === "true"`)
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// closed waits until no list is open.
func closed(tab *browser.Tab) {
	tab.Holds(`!document.querySelector(".candidates:not([hidden])") && !document.activeElement.hasAttribute("aria-activedescendant")`)
}

func written(tab *browser.Tab, text string) {
	tab.Holds(fmt.Sprintf(`document.activeElement.value === %q`, text))
}

// key presses keys, one after the other. Enter is sent with its text as a keyboard does: chromedp sends two events, of
// which Chromium takes the second for another key, so that nobody can prevent it.
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

// Somebody writes a spec by keyboard alone: what may stand there is listed as it is begun, and is chosen, taken, put away
// and undone; what a key is for is told.
func TestSpecIsCompletedByKeyboard(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	tab := c.tab()
	for _, width := range []int64{390, 1280} {
		tab.Size(width, 844)
		tab.Go(c.url + "/new")
		tab.Holds(`document.querySelector(".key-help")`)
		tab.Eval(`document.querySelector("#spec").focus(); document.querySelector("#spec").select()`, nil)
		key(tab, "dela")
		offered(tab, "delay", "delay_factor", "max_delay")
		axe.Check(t, tab)
		tab.Holds(`(list => list.top >= 0 && list.bottom <= innerHeight && list.right <= innerWidth)(document.querySelector(".candidates:not([hidden])").getBoundingClientRect())`)
		key(tab, kb.ArrowDown)
		tab.Holds(`document.querySelector("[aria-selected=true] b").textContent === "delay_factor"`)
		key(tab, kb.ArrowUp+kb.ArrowUp)
		tab.Holds(`document.querySelector("[aria-selected=true] b").textContent === "max_delay"`)
		key(tab, kb.ArrowDown+kb.Enter)
		written(tab, "delay: ")
		tab.Shows("delay: text such as 500ms, 1s, 2h, 7d")
		closed(tab)
		key(tab, "1s"+kb.Enter+"bre")
		offered(tab, "breaker")
		key(tab, kb.Tab)
		written(tab, "delay: 1s\nbreaker:\n  ")
		key(tab, " ", chromedp.KeyModifiers(2))
		offered(tab, "failures", "max_wait", "probes", "wait")
		key(tab, kb.Escape)
		closed(tab)
		key(tab, "wait: 1s"+kb.Enter+"state: ")
		key(tab, "pau")
		written(tab, "delay: 1s\nbreaker:\n  wait: 1s\nstate: pau")
		offered(tab, "paused")
		key(tab, kb.Enter)
		written(tab, "delay: 1s\nbreaker:\n  wait: 1s\nstate: paused")
		tab.Shows("running, paused, cancelled")
		key(tab, "z", chromedp.KeyModifiers(2))
		written(tab, "delay: 1s\nbreaker:\n  wait: 1s\nstate: pau")
		key(tab, kb.Home)
		closed(tab)
		key(tab, kb.Tab)
		tab.Holds(`document.activeElement.textContent === "Begin the crawl"`)
	}
}

// The text that the editor of a crawl has first is JSON: names are completed with their quotes, by a pointer too, in the midst of
// characters that are more than one.
func TestJSONOfASpecIsCompleted(t *testing.T) {
	t.Parallel()
	c, _ := shop(t)
	tab := c.tab()
	tab.Go(c.url + "/crawls/shop/spec")
	tab.Holds(`document.querySelector(".key-help")`)
	tab.Eval(`document.querySelector("#text").value = '{"contact": "😀é", }'; document.querySelector("#text").focus(); document.querySelector("#text").setSelectionRange(19, 19)`, nil)
	key(tab, `"robo`)
	offered(tab, "robots")
	tab.Eval(`document.querySelector(".candidates li b").click()`, nil)
	written(tab, `{"contact": "😀é", "robots": }`)
	key(tab, " ", chromedp.KeyModifiers(2))
	offered(tab, "obey", "ignore")
	axe.Check(t, tab)
	key(tab, kb.Enter)
	written(tab, `{"contact": "😀é", "robots": "obey"}`)
	tab.Eval(`document.querySelector("[name=url]").focus()`, nil)
	closed(tab)
}

// A server that is away leaves a field in which one can write.
func TestEditorWithoutAServerIsAPlainField(t *testing.T) {
	t.Parallel()
	tab := openEditor(t)
	tab.Allow("404")
	tab.Eval(`document.querySelector("#spec").dataset.completion = "/no/such/path"; document.querySelector("#spec").focus(); document.querySelector("#spec").select()`, nil)
	key(tab, "dela"+kb.Enter+"x")
	written(tab, "dela\nx")
	closed(tab)
}

// A question that is not answered yet when somebody writes on gives way to the next one.
func TestAnswersThatAreLateAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	tab := openEditor(t)
	tab.Eval(`{
		const ask = fetch;
		window.asked = 0;
		window.fetch = (url, o) => !url.endsWith("/completion") || window.asked++ ? ask(url, o) : new Promise((_, no) => o.signal.addEventListener("abort", () => no(o.signal.reason)));
		document.querySelector("#spec").focus();
		document.querySelector("#spec").select();
	}`, nil)
	key(tab, "del")
	tab.Holds("window.asked === 1")
	key(tab, "a")
	offered(tab, "delay", "delay_factor", "max_delay")
}
