package vueapp

import "fmt"

// Item is a product of the shop.
type Item struct {
	ID          int    `json:"id"`          // from 1
	Name        string `json:"name"`        // such as "Lamp 00017"; unique, and not a prefix of another name
	Price       string `json:"price"`       // such as "17.90 €", as pages show it
	Description string `json:"description"` // a text that is only on the page of this item
	Category    string `json:"category"`    // the name of its category in paths: lamps, chairs or tables
	Path        string `json:"-"`           // path of its page: /item/17
}

// makeItems returns n items in the order of their IDs.
func makeItems(n int) []Item {
	kinds := []struct{ name, category string }{{"Lamp", "lamps"}, {"Chair", "chairs"}, {"Table", "tables"}}
	materials := []string{"oak", "beech", "steel", "glass", "brass"}
	items := make([]Item, 0, n)
	for id := 1; id <= n; id++ {
		kind := kinds[id%len(kinds)]
		items = append(items, Item{
			ID:          id,
			Name:        fmt.Sprintf("%s %05d", kind.name, id),
			Price:       fmt.Sprintf("%d.%02d €", 5+id*7%300, id*30%100),
			Description: fmt.Sprintf("Made by hand of %s, number %05d of its series.", materials[id%len(materials)], id),
			Category:    kind.category,
			Path:        fmt.Sprintf("/item/%d", id),
		})
	}
	return items
}
