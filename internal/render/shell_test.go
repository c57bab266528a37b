package render

import (
	"bytes"
	"strings"
	"testing"
)

// A page that shows next to no text is awaited while a timer may fill it, or while it announces
// content; other pages are not.
func TestShellsAreWaitedFor(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 4, Pages: 1000})
	const fill = "main.textContent = 'late content'"
	long := strings.Repeat("words of the page ", 20)
	for name, tt := range map[string]struct {
		document, options string
		want              string
		not               string
	}{
		"a timer":                  {"<main id=main>Loading…</main><script>setTimeout(() => " + fill + ", 1500)</script>", "", "late content", "Loading"},
		"a slow timer":             {"<main id=main></main><script>setTimeout(() => " + fill + ", 4000)</script>", "", "late content", ""},
		"timers one after another": {"<main id=main><i class=spinner></i></main><script>let n = 0; (function next() { ++n < 5 ? setTimeout(next, 600) : " + fill + " })()</script>", "", "late content", ""},
		"timers that are late":     {"<main id=main></main><script>let n = 0; (function next() { if (++n === 80) return " + fill + "; setTimeout(next, 20); for (const began = performance.now(); performance.now() < began + 40; ) ; })()</script>", "", "late content", ""},
		"an interval":              {"<main id=main>0 %</main><script>let n = 0; setInterval(() => { if (++n === 25) " + fill + " }, 100)</script>", "", "late content", ""},
		"a timer behind a gate":    {"<main id=main><button onclick=\"setTimeout(() => " + fill + ", 3000)\">Enter</button></main>", `,"actions":[{"click":"button"}]`, "late content", "Enter"},
		"a frame after a timer":    {"<main id=main></main><script>setTimeout(() => requestAnimationFrame(() => " + fill + "), 1500)</script>", "", "late content", ""},
		"a worker": {
			"<main id=main>Please wait...</main><script>new Worker(URL.createObjectURL(new Blob(['setTimeout(() => postMessage(1), 2000)']))).onmessage = () => " + fill + "</script>",
			"", "late content", "wait",
		},
		"a shadow root":        {"<main id=main></main><script>main.attachShadow({mode: 'open'}).innerHTML = '<p>" + long + "'; setTimeout(() => document.body.append('late content'), 4900)</script>", "", "words", "late content"},
		"text":                 {"<p>" + long + "</p><div id=main></div><script>setTimeout(() => " + fill + ", 4900)</script>", "", "words", "late content"},
		"links":                {strings.Repeat("<a href=/a>a</a>", 10) + "<div id=main></div><script>setTimeout(() => " + fill + ", 4900)</script>", "", "href", "late content"},
		"navigation beside it": {"<nav>" + long + strings.Repeat("<a href=/a>a</a>", 30) + "</nav><main id=main>Loading…</main><script>setTimeout(() => " + fill + ", 2500)</script>", "", "late content", "Loading"},
		"a main part that is hidden": {
			"<main hidden></main><p>" + long + "</p><div id=main></div><script>setTimeout(() => " + fill + ", 4900)</script>", "", "words", "late content",
		},
		"a timer that is too slow": {"<main id=main>short</main><script>setTimeout(() => " + fill + ", 60000)</script>", "", "short", "late content"},
		"no script":                {"<main>Read more…</main>", "", "more…", ""},
		"a page that is loaded":    {"<main id=main></main><script>setTimeout(() => " + fill + ", 4900)</script>", `,"until":"load"`, "main", "<main id=\"main\">late content"},
		"a short time":             {"<main id=main>Loading…</main><script>(function next() { setTimeout(next, 1000) })()</script>", `,"timeout":"5s"`, "Loading…", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := actOn(t, r, tt.document, `{"mode":"always"`+tt.options+`}`)
			_, body, _ := bytes.Cut(page.HTML, []byte("<body>"))
			text, _, _ := bytes.Cut(body, []byte("<script"))
			if !bytes.Contains(text, []byte(tt.want)) || tt.not != "" && bytes.Contains(text, []byte(tt.not)) || page.Cut != "" {
				t.Errorf("cut: %q, it has no %q, or %q: %.2000s", page.Cut, tt.want, tt.not, body)
			}
		})
	}
}
