package extract

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"seine/internal/page/document"
)

// A function that cannot be ended is abandoned when the context is done: the caller of the rules
// gets the previous results.
func TestBusyFunctionIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := newRun(ctx, page(htmlType, ""))
		r.target = new(target)
		ends := make(chan struct{})
		began := time.Now()
		ended := r.within(new(busyFunctions), func() {
			r.note(0, "", "before")
			<-ends // like a function of a library that ignores the context
			r.note(0, "", "behind")
		})
		if took := time.Since(began); ended || took > time.Minute+100*time.Millisecond {
			t.Errorf("ended: %v, after %s", ended, took)
		}
		result := r.take()
		result.abandon(r)
		close(ends)
		synctest.Wait()
		if len(result.Notes) != 1 || !result.Abandoned || len(result.Problems) != 1 || !strings.Contains(result.Problems[0].Reason, "longer than") {
			t.Errorf("got %+v", result)
		}
	})
}

// No rules begin while the maximum number of functions are busy. They begin when one of these ends,
// and report an error if none ends in time.
func TestFewFunctionsAreAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy busyFunctions
		ends := make(chan struct{})
		for range MaxAbandoned {
			if err := busy.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if newRun(ctx, page(htmlType, "")).within(&busy, func() { <-ends }) {
				t.Error("ended")
			}
			cancel()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := busy.wait(ctx); !errors.Is(err, errBusy) || time.Since(began) != time.Minute {
			t.Errorf("waited %s: %v", time.Since(began), err)
		}
		waited := make(chan error)
		go func() { waited <- busy.wait(t.Context()) }()
		synctest.Wait()
		close(ends)
		if err := <-waited; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if busy.n != 0 {
			t.Errorf("%d are busy", busy.n)
		}
	})
}

// A panic in rules becomes a panic of their caller, which catches it.
func TestPanicOfRulesIsOneOfTheCaller(t *testing.T) {
	r := newRun(t.Context(), page(htmlType, ""))
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(string), "index out of range") {
			t.Errorf("recovered %v", p)
		}
	}()
	r.within(new(busyFunctions), func() { _ = []int{}[len(r.links)] })
}

// countdown is done after a number of calls.
type countdown struct {
	context.Context
	left, after int
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	c.after++
	return context.Canceled
}

type endlessRule struct{ name, rule, contentType, body string }

// endless are rules and pages that keep each engine of this process busy for minutes, in its
// repeated operations.
var endless = []endlessRule{
	{"css", "{kind: a, each: div, fields: {t: {css: 'div div p'}}}", htmlType, strings.Repeat("<div>", 400) + strings.Repeat("<b>x", 100)},
	{"css :matches", "{kind: a, each: 'div:matches(y)', fields: {t: b}}", htmlType, strings.Repeat("<div>", 400) + strings.Repeat("x ", 1<<18)},
	{"css [#=]", "{kind: a, each: '[class#=(a|b)*c]', fields: {t: b}}", htmlType, strings.Repeat(`<p class="`+strings.Repeat("ab", 1<<16)+`">`, 20)},
	{"meta", "{kind: a, each: li, fields: {t: {meta: x}}}", htmlType, strings.Repeat("<li>", 5000)},
	{"xpath //", `{kind: a, fields: {t: {xpath: "count(//li[count(//li) > 1])"}}}`, htmlType, strings.Repeat("<li>x", 5000)},
	{"xpath text", `{kind: a, fields: {t: {xpath: "//div[contains(., 'absent')]"}}}`, htmlType, strings.Repeat("<div>", 400) + strings.Repeat("<i>x</i>", 5000)},
	{"xpath of XML", `{kind: a, fields: {t: {xpath: "count(//a[following::a = preceding::a])"}}}`, "application/xml", "<r>" + strings.Repeat("<a>x</a>", 5000) + "</r>"},
	{"xpath over white space", `{kind: a, fields: {t: {xpath: "//a[position() > 9]"}}}`, "application/xml", "<r>" + strings.Repeat("<a/>", 100) + strings.Repeat(" ", 1<<20) + strings.Repeat("<a/>", 100) + "</r>"},
	{"regex", "{kind: a, fields: {t: {regex: 'a(?:.*z)?', all: true}}}", "text/plain", strings.Repeat("a", 1<<20)},
	{"replace", "{kind: a, fields: {t: {from: html, replace: [{regex: 'a(?:.*z)?', with: b}]}}}", htmlType, strings.Repeat("a", 1<<20)},
	{"regex many", "{kind: a, fields: {t: {from: html, replace: [{regex: 'a', with: b}]}}}", htmlType, strings.Repeat("a", 1<<20)},
	{"html", "{kind: a, fields: {t: {css: div, get: html}}}", htmlType, "<div>" + strings.Repeat("\"", 1<<20)},
	{"css :contains", "{kind: a, each: 'div:contains(y)', fields: {t: b}}", htmlType, "<div>" + strings.Repeat("x ", 1<<18)},
	{"css :containsOwn", "{kind: a, each: 'div:containsOwn(y)', fields: {t: b}}", htmlType, "<div>" + strings.Repeat("x ", 1<<18)},
}

// endlessPrograms are the same for jq, for which a worker is killed.
var endlessPrograms = []endlessRule{
	{"jq", `{kind: a, fields: {t: {jq: "last(repeat(1))"}}}`, "application/json", "1"},
	{"jq combinations", `{kind: a, fields: {t: {jq: "last(combinations)"}}}`, "application/json", "[" + strings.Repeat("[1,2,3],", 30) + "[]]"},
	{"json_ld", `{kind: a, fields: {t: {json_ld: "last(repeat(1))"}}}`, htmlType, `<script type="application/ld+json">{"a":1}</script>`},
	{"template", `{kind: a, fields: {l: {jq: "[range(100000)] | tojson"}, v: {value: "{l}"}, w: {jq: "last(repeat(1))"}}}`, "application/json", "1"},
	{"condition", `{kind: a, when: {not: {jq: "last(repeat(null))"}}, fields: {t: {jq: .}}}`, "application/json", "1"},
}

// Each engine ends when the context does, and does not ask it again.
func TestEnginesEndWithTheContext(t *testing.T) {
	for _, tt := range endless {
		t.Run(tt.name, func(t *testing.T) {
			rule := mustCompile(t, "records: ["+tt.rule+"]").records[0]
			ctx := &countdown{Context: t.Context(), left: 3}
			r := newRun(ctx, page(tt.contentType, tt.body))
			r.apply(&rule.target, func() error { return rule.run(r) })
			if len(r.result.Problems) != 1 || !strings.Contains(r.result.Problems[0].Reason, context.Canceled.Error()) || ctx.after > 3 {
				t.Errorf("problems %+v; asked %d times more", r.result.Problems, ctx.after)
			}
		})
	}
	t.Run("links", func(t *testing.T) {
		rule := mustCompile(t, `follow: [{types: json, with: {a: {jq: "range(3000)", all: true}, b: {jq: "range(3000)", all: true}}, url: "/#{a}{b}"}]`).follow[0]
		r := newRun(&countdown{Context: t.Context(), left: 3}, page("application/json", "{}"))
		r.apply(&rule.target, func() error { return rule.run(r) })
		if len(r.result.Problems) != 1 || !strings.Contains(r.result.Problems[0].Reason, context.Canceled.Error()) {
			t.Errorf("problems %+v", r.result.Problems)
		}
	})
}

// A rule ends within the time that its caller waits after cancellation, whatever it does.
func TestApplyEndsWithItsCaller(t *testing.T) {
	for _, tt := range slices.Concat(endless, endlessPrograms) {
		t.Run(tt.name, func(t *testing.T) {
			rules := mustCompile(t, "records: ["+tt.rule+"]")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := rules.Apply(ctx, page(tt.contentType, tt.body)); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The same while a program runs.
func TestProgramsEndWithTheContext(t *testing.T) {
	for _, tt := range endlessPrograms {
		t.Run(tt.name, func(t *testing.T) {
			rules := mustCompile(t, "records: ["+tt.rule+"]")
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := rules.Apply(ctx, page(tt.contentType, tt.body)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// growing are rules and pages with work that must grow linearly with the page.
var growing = []struct {
	name, rule, contentType string
	body                    func(n int) string
}{
	{"css in items", "{kind: a, each: li, fields: {t: {css: 'ul li b'}, u: 'i ~ b + i'}}", htmlType, func(n int) string {
		return "<ul>" + strings.Repeat("<li><i>x</i><b>y</b><i>z</i>", n)
	}},
	{"xpath child", "{kind: a, each: {xpath: //li}, fields: {t: {xpath: b}}}", htmlType, func(n int) string {
		return "<ul>" + strings.Repeat("<li><b>y</b>", n)
	}},
	{"regex all", "{kind: a, fields: {t: {css: p, regex: 'a(b*)', all: true}}}", htmlType, func(n int) string { return "<p>" + strings.Repeat("abb ", n) }},
	{"replace", "{kind: a, fields: {t: {css: p, replace: [{regex: 'b+', with: c}]}}}", htmlType, func(n int) string { return "<p>" + strings.Repeat("abb ", n) }},
	{"jq", `{kind: a, each: {jq: ".[]"}, fields: {t: {jq: ".a | ascii_downcase"}, u: {jq: ".b + .a"}}}`, "application/json", func(n int) string {
		return "[" + strings.Repeat(`{"a":"X","b":"Y"},`, n) + "{}]"
	}},
	{"csv", `{kind: a, types: csv, each: {jq: ".[]"}, fields: {t: {jq: .a}}}`, "text/csv", func(n int) string { return "a,b\n" + strings.Repeat("1,2\n", n) }},
	{"xml", `{kind: a, each: {xpath: //i}, fields: {t: {xpath: "string(b)"}}}`, "application/xml", func(n int) string {
		return "<r>" + strings.Repeat("<i><b>1</b></i>", n) + "</r>"
	}},
	{"map", "{kind: a, fields: {t: {css: li, map: {key: b, value: i}}}}", htmlType, func(n int) string { return strings.Repeat("<li><b>k</b><i>v</i>", n) }},
	{"objects", "{kind: a, fields: {t: {css: li, all: true, fields: {k: b, v: i}}}}", htmlType, func(n int) string { return strings.Repeat("<li><b>k</b><i>v</i>", n) }},
	{"split", "{kind: a, fields: {t: {css: p, split: ','}}}", htmlType, func(n int) string { return "<p>" + strings.Repeat("a,", n) }},
	{"template", "{kind: a, each: li, fields: {a: b, v: {value: '{a}-{a}'}}}", htmlType, func(n int) string { return strings.Repeat("<li><b>k</b>", n) }},
}

// The counted work of rules grows linearly with the page.
func TestWorkGrowsAsThePage(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	for _, tt := range growing {
		t.Run(tt.name, func(t *testing.T) {
			rule := mustCompile(t, "records: ["+tt.rule+"]").records[0]
			const small, times = 1000, 8
			work := func(n int) int64 {
				r := newRun(t.Context(), page(tt.contentType, tt.body(n)))
				r.apply(&rule.target, func() error { return rule.run(r) })
				if len(r.result.Problems) > 0 || len(r.result.Records) == 0 {
					t.Fatalf("problems %+v", r.result.Problems)
				}
				return r.work
			}
			few, many := work(small), work(small*times)
			if few < small/2 || many > few*times*3/2 {
				t.Errorf("%d times the page took %d and %d", times, few, many)
			}
		})
	}
}

// Programs have the expected results.
func TestProgramsSayWhatTheySay(t *testing.T) {
	for _, tt := range []struct{ jq, body, want string }{
		{"(1,2) + (10,20)", "1", `[11,12,21,22]`},
		{"(1,2) - (10,20)", "1", `[-9,-8,-19,-18]`},
		{".a + .b", `{"a":"x","b":"y"}`, `["xy"]`},
		{".a + 1 | . * 2 - 3", `{"a":2}`, `[3]`},
		{"-.a + .b", `{"a":2,"b":3}`, `[1]`},
		{".a += 1 | .b -= 1 | .c *= 2", `{"a":1,"b":1,"c":2}`, `[{"a":2,"b":0,"c":4}]`},
		{".[] += (1,2)", `[1]`, `[[2],[3]]`},
		{"map(. + 1) | add", `[1,2]`, `[5]`},
		{"[.[] | . as $x | $x * $x]", `[2,3]`, `[[4,9]]`},
		{`.s | test("x") , (split("") | length)`, `{"s":"xyz"}`, `[true,3]`},
		{"sort | .[0], (unique | length), (sort_by(-.) | .[0])", `[3,1,1]`, `[1,2,3]`},
		{`"\(.a + 1)!" * 2`, `{"a":1}`, `["2!2!"]`},
		{"def f(x): x + x; f(.a)", `{"a":2}`, `[4]`},
		{"def add: 7; add", `[1]`, `[7]`},
		{"[paths] | length", `{"a":{"b":1}}`, `[2]`},
		{"{(\"a\" + \"b\"): 1}", `1`, `[{"ab":1}]`},
		{".[1:] + .[:1]", `[1,2]`, `[[2,1]]`},
		{".a * .b", `{"a":{"x":1},"b":{"y":2}}`, `[{"x":1,"y":2}]`},
		{"keys[0], (to_entries[0].key), (with_entries(.value += 1).a)", `{"a":1}`, `["a","a",2]`},
		{"try (.a + 1) catch \"no\"", `{"a":[]}`, `["no"]`},
		{"if .a + 1 > 1 then .b else empty end", `{"a":1,"b":2}`, `[2]`},
		{".a? + 1, (.b // 2) * 3", `{}`, `[1,6]`},
		{"reduce .[] as $x (0; . + $x)", `[1,2]`, `[3]`},
		{"(.a | sort)[0]", `{"a":[2,1]}`, `[1]`},
		{".a | sort[0]", `{"a":[2,1]}`, `[1]`},
		{"del(.[] | select(. + 1 == 2))", `[1,2]`, `[[2]]`},
		{`"x" * 0, ("x" * 2)`, `1`, `["","xx"]`},
	} {
		q, err := compileJQ(tt.jq)
		if err != nil {
			t.Errorf("%s: %v", tt.jq, err)
			continue
		}
		v, err := page("application/json", tt.body).JSON()
		if err != nil {
			t.Fatal(err)
		}
		if got, notes, err := evaluated(t, interpreters, q, v); err != nil || len(notes) > 0 || got != tt.want {
			t.Errorf("%s: got %s, want %s; %v, %v", tt.jq, got, tt.want, err, notes)
		}
	}
}

// The content of HTML templates is in no record, in any language of rules.
func TestTemplatesOfHTMLAreInNoRecord(t *testing.T) {
	body := `<head><meta name=m content=real></head><div><p>real</p><template><meta name=m content="{{m}}"><p>{{title}}</p><a href="/{{id}}">x</a></template></div>`
	rules := mustCompile(t, `
records:
- kind: a
  fields:
    css: {css: p, all: true}
    below: {css: 'div p', all: true}
    has: {css: 'div:has(a)', all: true}
    xpath: {xpath: //p, all: true}
    child: {xpath: "//template/*", all: true}
    text: {xpath: "string(//div)"}
    raw: {css: div, get: raw}
    markdown: {css: div, get: markdown}
    meta: {meta: m, all: true}
- {kind: b, each: template, fields: {title: p, x: {xpath: .//p}}}
follow: [{css: a}]
`)
	result := mustApply(t, rules, page(htmlType, body))
	if len(result.Records) != 2 || len(result.Links) != 0 {
		t.Fatalf("got %+v", result)
	}
	const want = `{"css":["real"],"below":["real"],"has":[],"xpath":["real"],"child":[],"text":"real","raw":"real","markdown":"real","meta":["real"]}`
	if got := string(result.Records[0].Fields(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(result.Records[1].Fields(nil)); got != `{"title":"{{title}}","x":"{{title}}"}` {
		t.Errorf("of the template itself: %s", got)
	}
}

// checkPieces fails if much is allocated between two checks of the context.
func checkPieces(t *testing.T, name string, doc *document.Document, do func(r *run) error) {
	t.Helper()
	ctx := &allocations{Context: t.Context()}
	r := newRun(ctx, doc)
	r.target = new(target)
	ctx.begin()
	err := do(r)
	if ctx.look(); err != nil || len(r.result.Notes) > 0 {
		t.Errorf("%s: %v, %v", name, err, r.result.Notes)
	}
	if most := uint64(96 << 20); ctx.worst > most {
		t.Errorf("%s of %.20s… allocates %d MiB in one piece", name, doc.Body(), ctx.worst>>20)
	}
}

// Between two checks of the context, an XPath function allocates so little for its largest value
// that it takes only a part of 100 ms, on a machine that allocates a gigabyte per second.
func TestPiecesOfXPathAreShort(t *testing.T) {
	if withRace {
		t.Skip("it takes minutes with the race detector")
	}
	doc := page(htmlType, "<p>"+strings.Repeat("É a", maxTextXPath/4-1)+strings.Repeat("<b>1</b>", 20_000))
	root, err := doc.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"string-length(normalize-space(//p/text()))", "string-length(translate(//p/text(), 'É', 'e'))", "string-length(lower-case(//p/text()))", "string-length(concat(//p/text(), //p/text()))",
		"substring-before(//p/text(), 'zz')", "string-length(substring(//p/text(), 5))", "number(//p/text())", "count(//b | //p)", "sum(//b)", "reverse(//b)", "string-join(//b, ',')", "count(//b[matches(., '(a|b)*c')])",
	} {
		x, err := compileXPath(text)
		if err != nil {
			t.Fatal(err)
		}
		checkPieces(t, text, doc, func(r *run) error {
			err := r.selectXPath(nodeItem(root), x, func(item) bool { return true })
			if errors.Is(err, errSteps) {
				return nil
			}
			return err
		})
	}
}

// allocations measures allocation between two checks of a context.
type allocations struct {
	context.Context
	last, worst uint64
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func (c *allocations) begin() { c.last = allocated() }

func (c *allocations) look() {
	c.worst = max(c.worst, allocated()-c.last)
	c.begin()
}

func (c *allocations) Err() error {
	c.look()
	return nil
}
