package article

import (
	"strings"
	"testing"
)

// The content of a product page is its description if JSON-LD has it and it is a large part of the
// text.
func TestProduct(t *testing.T) {
	const first = "A mug of stoneware, thrown and glazed by hand in a small workshop by the sea, that holds four tenths of a liter. "
	description := strings.Repeat(first, 4)
	rest := strings.Repeat("<p>"+long+"</p>", 3)
	page := func(data, beside string) string {
		return "<script type=application/ld+json>" + data + "</script><body><h1>Mug</h1><div><div class=x><p>" + description +
			"</p><p>It can go into an oven.</p></div><div class=y>" + beside + "</div></div>"
	}
	data := `{"@type": "Product", "name": "Mug", "description": "` + description + `\nIt can go into an oven."}`
	for name, c := range map[string]struct {
		html string
		only bool // the description
	}{
		"much of the text":          {page(data, rest), true},
		"little of the text":        {page(data, strings.Repeat(rest, 9)), false},
		"not of a product":          {page(strings.Replace(data, "Product", "Thing", 1), rest), false},
		"a description not in page": {page(strings.Replace(data, "A mug", "This mug", 4), rest), false},
		"a quoted type in an attribute": {
			`<div itemtype='"Product"'></div>` + page("{}", rest), false},
	} {
		got, _ := Options{}.Main(parse(t, c.html))
		if !strings.Contains(got.Text, description) && !strings.Contains(got.Text, strings.TrimSpace(description)) || !strings.Contains(got.Text, "an oven") {
			t.Errorf("%s: no description in %q", name, got.Text)
		}
		if only := !strings.Contains(got.Text, strings.TrimSpace(long)); only != c.only {
			t.Errorf("%s: the description alone: %v, want %v", name, only, c.only)
		}
	}
}

// Long text below an offer is not content. The same text below an article is.
func TestBelowAProduct(t *testing.T) {
	offer := "<body><h1>Mug</h1><div><p>" + strings.Repeat("A mug of stoneware that holds four tenths of a liter. ", 9) + "</p>"
	others := strings.Repeat("<div class=tile><a href=/o>Another mug of stoneware</a> for EUR 12.50 and up</div>", 6)
	for name, c := range map[string]struct {
		head, below string
		kept        bool
	}{
		"reviews":               {"", "<div class=customer-reviews><p>" + long + long + long + long + "</div>", false},
		"questions":             {"", "<div id=Questions><p>" + long + long + long + long + "</div>", false},
		"small print":           {"", "<div class=disclaimer><p>" + long + long + long + long + "</div>", false},
		"a short one":           {"", "<div class=review>The river is fine.</div>", true},
		"reviews of an article": {"<meta property=og:type content=article>", "<div class=review><p>" + long + long + long + long + "</div>", true},
		"other things": {`<script type=application/ld+json>{"@type": "Product"}</script>`,
			"<div class=grid>" + strings.ReplaceAll(others, "Another", "The river and another") + "</div>", false},
	} {
		got, _ := Options{}.Main(parse(t, c.head+offer+c.below+"</div>"))
		if kept := strings.Contains(got.Text, "river"); kept != c.kept || !strings.Contains(got.Text, "four tenths") {
			t.Errorf("%s: %s", name, got.Text)
		}
	}
}
