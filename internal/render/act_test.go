package render

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"seine/internal/base/jsontext"
	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// actOn renders a document with options and actions in the JSON form of a spec.
func actOn(t *testing.T, r *Renderer, document, options string) *Page {
	t.Helper()
	how := crawlspec.DefaultRender()
	if err := jsontext.UnmarshalStrict([]byte(options), &how); err != nil {
		t.Fatal(err)
	}
	page, err := r.Render(t.Context(), &Job{
		Crawl: "c", How: &how, UserAgent: "seine/test", MaxBody: 1 << 20, Transport: guarded{},
		Main: pageproxy.Document{
			URL: "http://a.test/page", Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
			Body: []byte("<!doctype html><title>Acts</title>" + document),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// Each action does what a person would, and reports its result. A failed action has no other effect
// on the page, and is named in Cut.
func TestActions(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 4, Pages: 1000})
	const say = `<p id=said></p><script>function say(s) { said.append(s + '.') }</script>`
	for name, tt := range map[string]struct {
		document, actions string
		said              string // text that the page has recorded
		did               string // patterns of the actions' results, one per line
		cut               string // a pattern
	}{
		"click": {
			`<button onclick="say(event.isTrusted)">a</button>`, `{"click":"button"},{"script":"say('b')"}`,
			"true.b.", "1 click button: clicked 1\n2 script: ran", "",
		},
		"a late element": {
			`<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button onclick="say(1)">'), 700)</script>`,
			`{"click":"button"}`, "1.", "1 click button: clicked 1", "",
		},
		"a timer behind a click": {
			`<p>` + strings.Repeat("words of the page ", 20) + `</p><button onclick="setTimeout(() => say(1), 600)">a</button>`,
			`{"click":"button"}`, "1.", "1 click button: clicked 1", "",
		},
		"no element": {
			``, `{"click":"#no","timeout":"300ms"},{"click":"#no","times":3},{"click":"#no","all":true},{"script":"say(1)"}`, "1.",
			"1 click #no: clicked 0, then not found\n2 click #no: clicked 0, then not found\n3 click #no: clicked 0 of 0\n4 script: ran",
			"action 1 click #no: clicked 0, then not found",
		},
		"an element that is never shown": {
			`<button hidden>a</button><button id=b disabled>b</button>`,
			`{"click":"button","timeout":"300ms"},{"click":"#b","timeout":"300ms"},{"click":"button","all":true}`, "",
			"1 click button: clicked 0, then not visible\n2 click #b: clicked 0, then disabled\n3 click button: clicked 0 of 2",
			"action 1 click button: clicked 0, then not visible; action 2 click #b: clicked 0, then disabled",
		},
		"an overlay": {
			`<button onclick="say('through')">a</button><div class="box dark" id=terms style="position:fixed;inset:0"><p style="height:100%">Terms</p></div>`,
			`{"click":"button","timeout":"500ms"},{"click":"button","times":2,"timeout":"500ms"},{"script":"terms.remove()"},{"click":"button"}`, "through.",
			"1 click button: clicked 0, then covered by div#terms.box.dark\n2 click button: clicked 0, then covered by div#terms.box.dark\n3 script: ran\n4 click button: clicked 1",
			"action 1 click button: clicked 0, then covered by div#terms.box.dark; action 2 .*",
		},
		"an overlay that goes": {
			`<button onclick="say(1)">a</button><div id=terms style="position:fixed;inset:0"></div><script>setTimeout(() => terms.remove(), 700)</script>`,
			`{"click":"button"}`, "1.", "1 click button: clicked 1", "",
		},
		"an element that moves until it is there": {
			`<style>@keyframes in { from { margin-left: 600px } } button { animation: in 1.5s linear }</style><button onclick="say(1)">a</button>`,
			`{"click":"button"}`, "1.", "1 click button: clicked 1", "",
		},
		"an element below the window, in a container": {
			`<div style="height:3000px"></div><div style="height:100px;overflow:auto"><p style="height:900px"><button onclick="say(1)">a</button></div>`,
			`{"click":"button"}`, "1.", "1 click button: clicked 1", "",
		},
		"the label of a field, a link of two lines, a shadow root": {
			`<label>a <input id=i type=checkbox style="opacity:0;position:absolute;left:0" onchange="say(1)"><b style="position:absolute;left:0;width:2em">b</b></label>
			<p style="width:9em;margin-top:3em">some words and <a href="#x" onclick="say(2)">a link of two lines</a>
			<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<i onclick="say(3)">c</i>'</script>`,
			`{"click":"#i"},{"click":"a"},{"click":"#host"}`, "1.2.", "1 .*clicked 1\n2 .*clicked 1\n3 .*clicked 1", "",
		},
		"all of a list": {
			`<ul></ul><script>for (let i = 1; i < 6; i++) document.querySelector('ul').insertAdjacentHTML('beforeend',
				'<li' + (i == 3 ? ' hidden' : '') + '><button onclick="this.remove(); say(' + i + ')">+</button><button class=x>-</button></li>')</script>`,
			`{"click":"li button:first-child","all":true}`, "1.2.4.5.", "1 click li button:first-child: clicked 4 of 5", "",
		},
		"as often as there is one": {
			`<button onclick="say(1); if (said.childNodes.length == 4) this.remove()">more</button>`, `{"click":"button","times":9},{"click":"button","times":9}`,
			"1.1.1.1.", "1 click button: clicked 4, then not found\n2 click button: clicked 0, then not found", "",
		},
		"no more often than that": {
			`<button onclick="say(1)">more</button>`, `{"click":"button","times":2}`, "1.1.", "1 click button: clicked 2", "",
		},
		"a search form": {
			`<form onsubmit="say(q.value); return false"><input id=q value="old" onkeydown="if (event.key == 'ü') say('key')"></form>`,
			`{"type":"#q","text":"flüsse"},{"press":"Enter"}`, "key.flüsse.", "1 type #q: typed 6 characters\n2 press Enter: pressed", "",
		},
		"other fields": {
			`<textarea id=a onkeyup="if (event.code == 'End') say(value.replace('\n', '/'))">old</textarea>
			<div id=b contenteditable onkeydown="if (event.key == 'Escape') say(this.textContent)">old</div><button id=c>no field</button>`,
			`{"type":"#a","text":"one\ntwo"},{"press":"End"},{"type":"#b","text":"three"},{"press":"Escape"},{"type":"#c","text":"x"}`, "one/two.three.",
			"1 .*typed 7 characters\n2 .*\n3 .*typed 5 characters\n4 .*\n5 type #c: it takes no text", "action 5 type #c: it takes no text",
		},
		"a form that leads elsewhere": {
			`<form action="/search"><input name=q></form>`, `{"type":"input","text":"a"},{"press":"Enter"},{"script":"say(1)"}`, "1.",
			"1 .*\n2 press Enter: pressed; the page stays, and does not lead to http://a.test/search\\?q=a\n3 script: ran", "",
		},
		"scroll the page and a container": {
			`<div id=list style="height:200px;overflow:auto" onscroll="if (!this.grown) { this.grown = true; inner.style.height = '1000px' }"><div id=inner style="height:500px"></div></div>
			<div style="height:2000px"></div>`,
			`{"scroll":50,"in":"#list"},{"script":"say(list.scrollTop); say(scrollY)"},{"scroll":2},{"script":"say(scrollY)"},{"scroll":1,"in":"#no"}`,
			"800.0.14...?", "1 scroll #list: scrolled 4 screens\n2 .*\n3 scroll: scrolled 2 screens\n4 .*\n5 scroll #no: not found", "action 5 scroll #no: not found",
		},
		"scripts": {
			``, `{"script":"await new Promise(f => setTimeout(f, 99)); say('a')"},{"script":"throw new Error('no list')"},{"script":"no script"},
			{"script":"await new Promise(f => {})","timeout":"300ms"},{"script":"say('b')"}`, "a.b.",
			"1 script: ran\n2 script: Error: no list\n3 script: SyntaxError: .*\n4 script: not done within 300ms\n5 script: ran",
			"action 2 script: Error: no list; action 3 .*; action 4 script: not done.*",
		},
		"waits": {
			`<script>setTimeout(() => { window.ready = true; document.body.insertAdjacentHTML('beforeend', '<i></i>') }, 700)</script>`,
			`{"wait":"i"},{"wait":{"expression":"window.ready"}},{"wait":{"time":"200ms"}},{"wait":{"until":"idle"}},{"wait":"b","timeout":"300ms"},{"script":"say(1)"}`, "1.",
			"1 wait i: waited .*\n2 wait window.ready: waited .*\n3 wait: waited (?:[2-9]\\d\\dms|\\d.*s)\n4 wait: waited .*\n5 wait b: not done within 300ms\n6 script: ran",
			"action 5 wait b: not done.*",
		},
		"a screenshot": {`<p>shown`, `{"screenshot":true},{"script":"say(1)"}`, "1.", "1 screenshot: taken\n2 script: ran", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := actOn(t, r, say+tt.document, `{"mode":"always","until":"load","actions":[`+tt.actions+`]}`)
			_, said, _ := bytes.Cut(page.HTML, []byte(`<p id="said">`))
			said, _, _ = bytes.Cut(said, []byte("</p>"))
			if !regexp.MustCompile("^(?:" + tt.said + ")$").Match(said) {
				t.Errorf("the page was told %q, want %q", said, tt.said)
			}
			if did := strings.Join(page.Actions, "\n"); !regexp.MustCompile("^" + tt.did + "$").MatchString(did) {
				t.Errorf("it did\n%s\nwant\n%s", did, tt.did)
			}
			if !regexp.MustCompile("^" + tt.cut + "$").MatchString(page.Cut) {
				t.Errorf("cut: %q, want %q", page.Cut, tt.cut)
			}
			if shots := strings.Count(tt.actions, "screenshot"); len(page.Screenshots) != shots || shots > 0 && !bytes.HasPrefix(page.Screenshots[0], []byte("\x89PNG")) {
				t.Errorf("%d screenshots", len(page.Screenshots))
			}
		})
	}
}

// When the time of the page is over, the remaining actions report that, and the page is taken in
// its current state.
func TestActionsEndWithTheTimeOfThePage(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 1, Pages: 1000})
	began := time.Now()
	page := actOn(t, r, "<p>there</p>", `{"mode":"always","timeout":"2s","actions":[{"wait":"#never"},{"click":"p"}]}`)
	if !bytes.Contains(page.HTML, []byte("there")) || len(page.Actions) != 2 || time.Since(began) > snapTime {
		t.Errorf("after %s: %s, %q", time.Since(began), page.HTML, page.Actions)
	}
	for i, name := range []string{"1 wait #never", "2 click p"} {
		if want := name + ": not done within 2s"; page.Actions[i] != want || !strings.Contains(page.Cut, want) {
			t.Errorf("%q, cut %q, want %q", page.Actions[i], page.Cut, want)
		}
	}
}

// Pages receive events for every key that a spec may name.
func TestKeysOfSpecsAreKnown(t *testing.T) {
	t.Parallel()
	for _, name := range crawlspec.RenderKeys {
		if keys[name].key == "" {
			t.Errorf("%s is no key", name)
		}
	}
	if len(keys) != len(crawlspec.RenderKeys) {
		t.Errorf("%d keys, %d of them for specs", len(keys), len(crawlspec.RenderKeys))
	}
}
