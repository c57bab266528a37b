package samplesites

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// Sizes of the shop.
const (
	shopPerCategory = 18
	shopPerPage     = 8
)

var shopCategories = []category{{"lampen", "Lampen"}, {"stuehle", "Stühle"}, {"tische", "Tische"}}

type category struct{ Slug, Name string }

// product is a product of the shop.
type product struct {
	ID             int
	SKU, Slug      string
	Name, Brand    string
	Category       category
	Description    string
	Cents          int
	InStock        bool
	Stars, Reviews int // Stars is in tenths; without reviews the product has no rating
	Images         []string
	Specs          []spec
	Variants       []variant
	Related        []*product
	OnRequest      bool // without a price
}

type spec struct{ Name, Value string }

// variant is a product in one colour.
type variant struct {
	SKU, Colour string
	Cents       int
	Stock       int
}

// Path returns the path of the product's page.
func (p *product) Path() string { return fmt.Sprintf("/p/%s-%d", p.Slug, p.ID) }

// Price returns the price in German format.
func (p *product) Price() string { return euro(p.Cents) }

// Price returns the price in German format.
func (v variant) Price() string { return euro(v.Cents) }

// Amount returns the price as schema.org requires it.
func (p *product) Amount() string { return fmt.Sprintf("%d.%02d", p.Cents/100, p.Cents%100) }

// Rating returns the mean rating, out of 5.
func (p *product) Rating() string { return fmt.Sprintf("%d.%d", p.Stars/10, p.Stars%10) }

// Availability returns the last part of schema.org's name for the availability.
func (p *product) Availability() string {
	if p.InStock {
		return "InStock"
	}
	return "OutOfStock"
}

// Legacy reports whether the product has the old template with microdata; the others have JSON-LD.
func (p *product) Legacy() bool { return p.ID%3 == 0 }

// euro formats cents as "1.299,00 €", with a no-break space.
func euro(cents int) string {
	whole := strconv.Itoa(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "." + whole[i:]
	}
	return fmt.Sprintf("%s,%02d\u00a0€", whole, cents%100)
}

// shopList is one page of a category.
type shopList struct {
	Category category
	Products []*product
	Page     int
	Pages    []int
	Next     int // 0 on the last page
}

func newShop(seed uint64) *SampleSite {
	s := &SampleSite{Seeds: []string{"/"}, pages: map[string]page{}}
	t := templates("shop")
	all := shopProducts(newProse(seed, "shop"))
	s.html("/", t, "home", map[string]any{"Categories": shopCategories, "Featured": all[:4]})
	for _, name := range []string{"/impressum", "/versand", "/login", "/cart"} {
		s.html(name, t, "plain", capital(name[1:]))
	}
	for _, c := range shopCategories {
		s.pages["/c/"+c.Slug] = page{typeHTML, func(r request) []byte {
			list := shopPage(c, all, r.query.Get("page"))
			if list == nil {
				return nil
			}
			return render(t, "list", r, list)
		}}
	}
	for _, p := range all {
		s.html(p.Path(), t, map[bool]string{true: "legacy", false: "product"}[p.Legacy()], shopView{p})
		for _, image := range p.Images {
			s.text(image, "image/jpeg", "\xff\xd8\xff\xd9")
		}
	}
	s.text("/robots.txt", typeText, "User-agent: *\nDisallow: /cart\nDisallow: /login\n")
	s.text("/theme.css", typeCSS, ".price { font-weight: bold }\n")
	s.truth = func(base string) Truth { return shopTruth(base, all) }
	return s
}

func shopPage(c category, all []*product, page string) *shopList {
	var of []*product
	for _, p := range all {
		if p.Category == c {
			of = append(of, p)
		}
	}
	n := 1
	if page != "" {
		n, _ = strconv.Atoi(page)
	}
	last := (len(of) + shopPerPage - 1) / shopPerPage
	if n < 1 || n > last {
		return nil
	}
	list := &shopList{Category: c, Page: n, Products: of[(n-1)*shopPerPage : min(n*shopPerPage, len(of))]}
	for i := range last {
		list.Pages = append(list.Pages, i+1)
	}
	if n < last {
		list.Next = n + 1
	}
	return list
}

func shopProducts(p prose) []*product {
	colours := []string{"Weiß", "Schwarz", "Grün", "Blau", "Eiche"}
	kinds := map[string][]string{
		"lampen": {"Tischlampe", "Stehlampe", "Hängelampe"}, "stuehle": {"Stuhl", "Hocker", "Sessel"},
		"tische": {"Esstisch", "Schreibtisch", "Beistelltisch"},
	}
	var all []*product
	for i := range len(shopCategories) * shopPerCategory {
		c := shopCategories[i%len(shopCategories)]
		given := pick(p, firstNames)
		item := &product{
			ID: 1000 + i, SKU: fmt.Sprintf("%s-%04d", strings.ToUpper(c.Slug[:2]), 1000+i), Category: c,
			Name: pick(p, kinds[c.Slug]) + " „" + given + "“ & Co", Brand: pick(p, lastNames) + " Möbel",
			Description: p.paragraph(3), Cents: 990 + p.IntN(2000)*100, InStock: p.IntN(5) > 0,
			Stars: 10 + p.IntN(41), Reviews: p.IntN(4) * p.IntN(30),
		}
		item.Slug = slug(given + "-" + c.Slug)
		for n := range 1 + p.IntN(3) {
			item.Images = append(item.Images, fmt.Sprintf("/media/%d/%d.jpg", item.ID, n+1))
		}
		item.Specs = []spec{{"Material", pick(p, []string{"Holz", "Stahl", "Glas"})}, {"Höhe", strconv.Itoa(30+p.IntN(120)) + " cm"}, {"Gewicht", fmt.Sprintf("%d,%d kg", 1+p.IntN(20), p.IntN(10))}}
		for n := range p.IntN(4) {
			item.Variants = append(item.Variants, variant{
				SKU: item.SKU + "-" + strconv.Itoa(n+1), Colour: colours[n], Cents: item.Cents + n*550, Stock: p.IntN(6),
			})
		}
		all = append(all, item)
	}
	for i, item := range all {
		item.Related = []*product{all[(i+5)%len(all)], all[(i+11)%len(all)]}
	}
	all[7].OnRequest = true // new template: lacks the price that the schema requires
	all[11].SKU = ""        // old template: lacks the SKU that the rule requires
	return all
}

// shopView is the data of a product's template.
type shopView struct{ *product }

// Graph returns the JSON-LD of a product's page: the shop, the breadcrumbs, and the product.
func (v shopView) Graph(base string) template.JS {
	p := v.product
	offer := map[string]any{"@type": "Offer", "priceCurrency": "EUR", "price": p.Amount(), "availability": "https://schema.org/" + p.Availability(), "url": base + p.Path()}
	if p.OnRequest {
		delete(offer, "price")
	}
	item := map[string]any{
		"@context": "https://schema.org", "@type": "Product", "name": p.Name, "sku": p.SKU, "description": p.Description,
		"brand": map[string]any{"@type": "Brand", "name": p.Brand}, "offers": offer, "image": base + p.Images[0],
	}
	if p.Reviews > 0 {
		item["aggregateRating"] = map[string]any{"@type": "AggregateRating", "ratingValue": p.Rating(), "reviewCount": p.Reviews}
	}
	return mustJS([]any{
		map[string]any{"@context": "https://schema.org", "@type": "Organization", "name": "Möbelhaus Seidel", "url": base + "/"},
		map[string]any{"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": []any{
			map[string]any{"@type": "ListItem", "position": 1, "name": p.Category.Name, "item": base + "/c/" + p.Category.Slug},
		}},
		item,
	})
}

func mustJS(v any) template.JS {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of maps and strings only
	}
	return template.JS(b)
}

func shopTruth(base string, all []*product) Truth {
	var t Truth
	for _, p := range all {
		if p.OnRequest || p.SKU == "" {
			t.Refused = append(t.Refused, base+p.Path())
			continue
		}
		t.Records = append(t.Records, p.record(base))
	}
	return t
}

func (p *product) record(base string) Record {
	images, specs := []any{}, map[string]any{}
	for _, i := range p.Images {
		images = append(images, base+i)
	}
	for _, s := range p.Specs {
		specs[s.Name] = s.Value
	}
	variants := []any{}
	for _, v := range p.Variants {
		variants = append(variants, map[string]any{
			"sku": v.SKU, "colour": v.Colour, "price": float64(v.Cents) / 100, "stock": float64(v.Stock),
		})
	}
	r := Record{
		"kind": "product", "url": base + p.Path(), "key": p.SKU, "sku": p.SKU, "name": p.Name, "brand": p.Brand,
		"category": p.Category.Name, "price": float64(p.Cents) / 100, "currency": "EUR", "availability": p.Availability(),
		"description": p.Description, "images": images, "specs": specs, "variants": variants,
		"reviews": float64(0),
	}
	if p.Reviews > 0 {
		r["rating"], r["reviews"] = float64(p.Stars)/10, float64(p.Reviews)
	}
	return r
}
