package fetcher

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"seine/internal/render"
	"seine/internal/run/specfile"
	"seine/internal/testing/browser"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// rendersAuto requests a plan, and passes on what the browser would have shown; "" stands for a
// failure.
func rendersAuto(a *autoRender, path, document, shown string) bool {
	return rendersBySpec(a, nil, path, document, shown)
}

func rendersBySpec(a *autoRender, spec *crawlspec.Spec, path, document, shown string) bool {
	t := &fetchJob{spec: crawlspec.Revision{Spec: spec}, req: &messages.Request{Crawl: "c", URL: "http://shop.example" + path}, reply: &httpclient.Reply{ContentType: "text/html"}}
	plan := a.plan(context.Background(), crawlspec.RenderAuto, t, []byte(document))
	if plan.why != "" && shown != "" {
		a.learn(context.Background(), plan, t, []byte(shown))
	}
	return plan.why != ""
}

const (
	shell = `<!doctype html><title>Shop</title><div id="root">Loading…</div><script src="/app.js"></script>`
	plain = "<!doctype html><title>Shop</title>"
)

var (
	text  = "<p>" + strings.Repeat("words of an article ", 40)
	whole = plain + text + `<script src="/menu.js"></script>`
)

func newAuto(t *testing.T) *autoRender {
	t.Helper()
	return newAutoRender()
}

func TestAutoRendersEmptyShellsAlways(t *testing.T) {
	a := newAuto(t)
	for n := range 20 {
		if !rendersAuto(a, fmt.Sprintf("/app/%d", n), shell, shell) {
			t.Errorf("shell %d is not rendered", n)
		}
	}
}

// A page without a script looks the same in a browser; structured data does not count as a script.
func TestAutoNeverRendersWhatHasNoScript(t *testing.T) {
	for _, document := range []string{plain, plain + text, plain + `<SCRIPT type="application/ld+json">{}</SCRIPT>`, plain + "<scr", ""} {
		if rendersAuto(newAuto(t), "/a", document, "") {
			t.Errorf("%.80s is rendered", document)
		}
	}
}

// Of complete pages, samples are rendered: the first two of their template, and then one each time
// that there are ten times as many.
func TestAutoTakesFewSamplesOfWholePages(t *testing.T) {
	a := newAuto(t)
	var rendered []int
	for n := 1; n <= 1000; n++ {
		if rendersAuto(a, fmt.Sprintf("/article/%d", n), whole, whole) {
			rendered = append(rendered, n)
		}
	}
	if got := fmt.Sprint(rendered); got != "[1 2 20 200]" {
		t.Error(got)
	}
}

// A template whose sample shows more is rendered until a page shows no more. A failure teaches
// nothing, and other templates and hosts are sampled separately.
func TestAutoLearnsByTemplate(t *testing.T) {
	a := newAuto(t)
	more := whole + text + text
	for n := range 10 {
		if !rendersAuto(a, fmt.Sprintf("/item/%d", n), whole, more) {
			t.Errorf("item %d is not rendered", n)
		}
	}
	if !rendersAuto(a, "/item/10", whole, "") || !rendersAuto(a, "/item/11", whole, whole) {
		t.Error("a failure, or the page after it, is not rendered")
	}
	if !rendersAuto(a, "/item/12", whole, whole) || rendersAuto(a, "/item/13", whole, whole) {
		t.Error("behind a page that shows no more, there must be one sample, and no more")
	}
	if !rendersAuto(a, "/other/12", whole, whole) {
		t.Error("another template is not sampled")
	}
}

// A value that only the rendered page yields for rules justifies a browser, however short it is.
// Values that rules find without one, and text that no rule reads, do not.
func TestAutoRendersWhatRulesFind(t *testing.T) {
	const rule = "{kind: item, match: '*/item/*', fields: {name: h1, price: {css: .price, as: number}, tags: {css: .tag, all: true}}}"
	price, name := `<p class=price>7</p>`, `<h1>Chair</h1>`
	for _, c := range []struct {
		name, rules, document, shown string
		want                         bool
	}{
		{"a record", "records: [" + rule + "]", "", name + price, true},
		{"a field", "records: [" + rule + "]", name, name + price, true},
		{"a list", "records: [" + rule + "]", name, name + "<i class=tag>a</i>", true},
		{"a value in place of a text that is none", "records: [" + rule + "]", name + "<p class=price>…</p>", name + price, true},
		{"further records", "records: [{kind: offer, each: p.price, fields: {price: {get: text}}}]", price, price + price, true},
		{"a link", "follow: [{css: a.next}]", "", "<a class=next href=/item/2>next</a>", true},
		{"the same", "records: [" + rule + "]", name + price, name + price, false},
		{"what no rule reads", "records: [" + rule + "]", name + price, name + price + "<p>12 views</p>", false},
		{"another page", "records: [{kind: item, match: '*/shop/*', fields: {name: h1}}]", "", name + price, false},
		{"no rules", "links: {follow: [anchor]}", "", name + price, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := specfile.Load("spec.yaml", []byte("render: auto\n"+c.rules))
			if err != nil {
				t.Fatal(err)
			}
			a := newAuto(t)
			for n := range firstSamples {
				rendersBySpec(a, spec, fmt.Sprintf("/item/%d", n), whole+c.document, whole+c.shown)
			}
			if got := rendersBySpec(a, spec, "/item/3", whole+c.document, ""); got != c.want {
				t.Errorf("the third page is rendered: %t, want %t", got, c.want)
			}
		})
	}
}

// If a script makes the records of pages a moment after loading, all of them are rendered, even if
// they have text without it.
func TestAutoRendersEachPageWhoseRecordComesLate(t *testing.T) {
	browser.Path(t)
	page := "<!doctype html><title>Shop</title>" + text + `<div></div><script>
setTimeout(() => document.querySelector("div").innerHTML = "<h1>Chair</h1><p class=price>" + 7, 300)</script>`
	site := map[string]answer{}
	for n := range firstSamples + 2 {
		site[fmt.Sprintf("/item/%d", n)] = answer{header: http.Header{"Content-Type": {"text/html"}}, body: page}
	}
	url := serve(t, site)
	s := withSpec(t, "render: auto\nrecords: [{kind: item, match: '/item/*', fields: {name: h1, price: .price}}]")
	r := render.New(render.Config{Tabs: 1, Pages: 1000}, slog.New(slog.DiscardHandler))
	t.Cleanup(r.Close)
	s.Render(r, false)
	for path := range site {
		h := s.get(url + path)
		h.wants(t, messages.OK)
		if !strings.Contains(string(h.body), "<p class=\"price\">7") {
			t.Errorf("%s is not rendered: %s", path, h.body)
		}
	}
}

// The plan has the reason why a page is not rendered.
func TestAutoSaysWhyAPageIsNotRendered(t *testing.T) {
	a := newAuto(t)
	for range firstSamples {
		rendersAuto(a, "/item/1", whole, whole)
	}
	for path, page := range map[string]struct{ document, want string }{
		"/plain":  {plain, "the document has no script"},
		"/item/1": {whole, "the last sample shows no more in a browser, of pages like /item/*"},
	} {
		job := &fetchJob{req: &messages.Request{Crawl: "c", URL: "http://shop.example" + path}, reply: &httpclient.Reply{ContentType: "text/html"}}
		plan := a.plan(t.Context(), crawlspec.RenderAuto, job, []byte(page.document))
		if plan.why != "" || plan.whyNot != page.want {
			t.Errorf("%s: %q, %q", path, plan.why, plan.whyNot)
		}
	}
}

func TestPathTemplate(t *testing.T) {
	for path, want := range map[string]string{
		"/": "/", "/about": "/about", "/item/7": "/item/*", "/item/red-chair": "/item/*", "/2024/05/a-title": "/*/*/*", "/item/7?page=2": "/item/*",
		"/category/": "/category/", "/a-very-long-name-of-one-page": "/*",
	} {
		if got := pathTemplate("http://a.example" + path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
