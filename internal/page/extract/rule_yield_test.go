package extract

import (
	"fmt"
	"slices"
	"testing"
)

// Rules report what never has a value: a selector without matches, a type that no item has, a rule
// without matching pages. Constants and defaults are not reported.
func TestRulesTellWhatFindsNothing(t *testing.T) {
	t.Parallel()
	rules := mustCompile(t, `
records:
- kind: product
  match: "*/p/*"
  fields: {title: h1, name: h9, price: {css: .price, as: integer}, colour: {css: .colour, default: red}, size: {css: .size, default: ""}, shop: {value: a}, tags: {css: .tag, all: true}}
- {kind: offer, match: "*/offer/*", fields: {title: h1}}
- {kind: review, each: .review, fields: {text: p}}
`)
	var told []Yield
	for i := range toldAfter + 1 {
		price := "80,99"
		if i == toldAfter {
			price = "80"
		}
		doc := page("text/html", "<h1>A</h1><p class=price>"+price+" EUR</p>")
		doc.URL = fmt.Sprintf("https://shop.test/p/%d", i)
		told = append(told, mustApply(t, rules, doc).Told...)
	}
	if len(told) != 1 || told[0].Records != toldAfter || !slices.Equal(told[0].Nothing, []string{"name", "colour", "tags"}) || !slices.Equal(told[0].Unfit, []string{"price"}) {
		t.Errorf("told %+v, want once of the first rule", told)
	}
	all, pages := rules.Yields()
	if pages != toldAfter+1 || len(all) != 3 {
		t.Fatalf("%d rules, %d pages", len(all), pages)
	}
	for i, want := range []string{
		"name, colour, tags found nothing, in any of 101 records", "fits none of 101 pages: look at its match, type and when",
		"made no record of the 101 pages that it fits: its selectors, or a required field, found nothing",
	} {
		if got := all[i].Trouble(pages, false); got != want {
			t.Errorf("of rule %d: %q, want %q", i, got, want)
		}
	}
	for _, c := range []struct {
		of    Yield
		pages int64
		later bool
		want  string
	}{
		{Yield{}, 0, false, ""},
		{Yield{}, 1, false, "fits none of 1 page: look at its match, type and when"},
		{Yield{}, 5, true, ""},
		{Yield{Pages: 1}, 5, true, "made no record of the 1 page that it fits: its selectors, or a required field, found nothing"},
		{Yield{Pages: 2, Records: 2, Nothing: []string{"a"}}, 5, false, ""},
	} {
		if got := c.of.Trouble(c.pages, c.later); got != c.want {
			t.Errorf("of few pages: %q, want %q", got, c.want)
		}
	}
}
