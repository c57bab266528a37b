package vueapp

import "fmt"

// Item is something that the shop sells.
type Item struct {
	ID          int    `json:"id"`          // from 1
	Name        string `json:"name"`        // such as "Lamp 00017": no other item has it, and no other name begins with it
	Price       string `json:"price"`       // such as "17.90 €", as pages show it
	Description string `json:"description"` // a text that only the page of this item has
	Category    string `json:"category"`    // the name of its category in its path: lamps, chairs or tables
	Path        string `json:"-"`           // that of its page: /item/17
}

// makeItems makes items, in the order of their IDs.
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
