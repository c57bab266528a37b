package parser

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

// A rule's page: fields have the values of the page's record.
func TestRulesHaveTheFieldsOfThePage(t *testing.T) {
	names := crawlspec.PageFieldsOfRules()
	spec := "page: {emit: always, fields: [" + strings.Join(names, ", ") + "]}\nrecords:\n  - kind: own\n    fields:\n"
	for _, name := range names {
		spec += "      p_" + name + ": {from: page:" + name + "}\n"
	}
	pg := page("text/html")
	pg.Digest = strings.Repeat("ab", 16)
	lines := parserOf(t, spec).lines(t, pg, `<html lang=en><title>A title</title><meta name=description content=D><meta name=author content=Ann><meta property=og:title content=T>
<meta name=twitter:card content=summary><link rel=canonical href=/c><script type=application/ld+json>{"@type":"Article","datePublished":"2024-01-02","dateModified":"2024-01-03"}</script>
<main><h1>A heading</h1><p>`+inEnglish+`</p></main><div itemscope><b itemprop=a>b</b></div>`)
	if len(lines) != 2 {
		t.Fatalf("records %s", lines)
	}
	var ofPage, own map[string]any
	for i, to := range []*map[string]any{&ofPage, &own} {
		if err := json.Unmarshal([]byte(lines[i]), to); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		want := ofPage[name]
		if text, ok := want.(string); ok {
			if want = strings.TrimSpace(text); want == "" {
				want = nil // not found
			}
		}
		if got := own["p_"+name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, of the page it is %v", name, got, want)
		}
	}
}

// A plain text has no boilerplate: all of it is its main content, and can be Markdown.
func TestTextIsItsOwnMarkdown(t *testing.T) {
	const body = "# Title\n\n- *one*\n- two\n"
	for _, contentType := range []string{"text/plain", "text/markdown; charset=utf-8"} {
		got := parserOf(t, "page: {fields: [main, markdown]}").lines(t, page(contentType), body)
		if want := `{"main":"# Title\n\n- *one*\n- two\n","markdown":"# Title\n\n- *one*\n- two\n"}`; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %s, want %s", contentType, got, want)
		}
	}
}

// The content options of the spec apply to the fields of the page and of rules.
func TestContentOptions(t *testing.T) {
	html := "<main><h1>A heading</h1><div class=body><p>" + inEnglish + "</p><p>" + inEnglish + "</p></div></main><ol>" +
		strings.Repeat("<li class=comment>Somebody says that this is a good text, and says so at length.</li>", 3) + "</ol>"
	const rest = "page: {emit: always, fields: [main]}\nrecords: [{kind: own, fields: {text: {from: page:main}}}]"
	for spec, want := range map[string][2]bool{ // the heading, and comments
		"": {true, false}, "content: {prefer: precision}\n": {false, false}, "content: {comments: keep}\n": {true, true},
	} {
		for _, line := range parserOf(t, spec+rest).lines(t, page("text/html"), html) {
			if got := [2]bool{strings.Contains(line, "A heading"), strings.Contains(line, "Somebody")}; got != want {
				t.Errorf("%q: %v in %s", spec, got, line)
			}
		}
	}
}
