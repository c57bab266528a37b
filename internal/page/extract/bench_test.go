package extract

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// productPage is a page of a shop of about 40 KB, most of it not about the product.
func productPage() string {
	var b strings.Builder
	b.WriteString(`<!doctype html><html><head><title>Lamp</title><meta property="og:type" content="product">
<script type="application/ld+json">{"@type":"Product","aggregateRating":{"ratingValue":"4.5","reviewCount":12}}</script></head><body><nav><ul>`)
	for i := range 150 {
		fmt.Fprintf(&b, `<li class="menu"><a href="/c/%d" title="Category %d">Category %d</a></li>`, i, i, i)
	}
	b.WriteString(`</ul></nav><div class="product"><h1>Desk lamp</h1><p class="price">€ 1.234,50</p><span itemprop="sku">L-1</span>
<img src="/i/lamp.jpg"><table class="specs">`)
	for i := range 10 {
		fmt.Fprintf(&b, `<tr><th>Name %d</th><td>Value %d</td></tr>`, i, i)
	}
	b.WriteString(`</table><ul class="tags"><li>a</li><li>b</li></ul><div class="stock">In stock</div><time>2024-05-01</time></div>`)
	for i := range 120 {
		fmt.Fprintf(&b, `<div class="review"><b>User %d</b><p>Some words of a review that says <em>this</em> and that, number %d.</p></div>`, i, i)
	}
	b.WriteString(`</body></html>`)
	return b.String()
}

const productSpec = `
records:
  - kind: product
    match: "*"
    when: div.product
    key: "{sku}"
    fields:
      title: h1
      price: {css: .price, as: number}
      image: {css: .product img, get: "@src", as: url}
      tags: {css: ".tags li", all: true}
      sku: {xpath: "//span[@itemprop='sku']", required: true}
      rating: {json_ld: .aggregateRating.ratingValue, as: number}
      type: {meta: "og:type"}
      specs: {css: "table.specs tr", map: {key: th, value: td}}
      stock: {css: .stock, regex: '^In', default: "no"}
      date: {css: time, as: date}
`

func listingPage() string {
	var b strings.Builder
	b.WriteString("<ul>")
	for i := range 100 {
		fmt.Fprintf(&b, `<li class="item" data-id="%d"><a href="/p/%d">Thing %d</a><span class="price">$%d.99</span><p>Words about it.</p></li>`, i, i, i, i)
	}
	return b.String()
}

const listingSpec = `
records:
  - kind: item
    each: li.item
    fields: {id: {get: "@data-id"}, name: a, link: {css: a, get: "@href", as: url}, price: {css: .price, as: number}}
follow:
  - css: li.item a
`

func apiBody() string {
	var b strings.Builder
	b.WriteString(`{"games":[`)
	for i := range 100 {
		fmt.Fprintf(&b, `{"id":%d,"home":{"name":"A","score":%d},"away":{"name":"B","score":%d},"plays":[1,2,3]},`, i, i, i+1)
	}
	return strings.TrimSuffix(b.String(), ",") + `]}`
}

const apiSpec = `
records:
  - kind: game
    each: {jq: ".games[]"}
    key: "{id}"
    fields: {id: {jq: .id}, home: {jq: .home.name}, score: {jq: "[.home.score, .away.score]"}}
follow:
  - each: {jq: ".games[]"}
    with: {id: {jq: .id}}
    url: "/api/game/{id}"
`

// programsSpec has three programs for each of a hundred items.
const programsSpec = `
records:
  - kind: game
    each: {jq: ".games[] | select(.id >= 0)"}
    key: "{id}"
    fields: {id: {jq: .id}, sum: {jq: ".home.score + .away.score"}, names: {jq: "[.home.name, .away.name] | join(\" - \")"}, plays: {jq: "{n: (.plays | length), last: .plays[-1]}"}}
`

func BenchmarkApply(b *testing.B) {
	for _, bm := range []struct {
		name, spec, contentType, body string
		records                       int
	}{
		{"product", productSpec, htmlType, productPage(), 1},
		{"listing", listingSpec, htmlType, listingPage(), 100},
		{"api", apiSpec, "application/json", apiBody(), 100},
		{"programs", programsSpec, "application/json", apiBody(), 100},
		{"no rule for the type", apiSpec, htmlType, productPage(), 0},
	} {
		b.Run(bm.name, func(b *testing.B) {
			rules := mustCompile(b, bm.spec)
			b.SetBytes(int64(len(bm.body)))
			b.ReportAllocs()
			for b.Loop() {
				result, err := rules.Apply(context.Background(), page(bm.contentType, bm.body))
				if err != nil || len(result.Records) != bm.records {
					b.Fatalf("%+v, %v", result, err)
				}
			}
		})
	}
}

// BenchmarkDOM is the cost of a rule for HTML before its first match.
func BenchmarkDOM(b *testing.B) {
	body := productPage()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := page(htmlType, body).DOM(); err != nil {
			b.Fatal(err)
		}
	}
}
