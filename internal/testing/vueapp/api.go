package vueapp

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// pageSize is the number of items on a page of a category.
const pageSize = 12

// category is a list of items.
type category struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Items int    `json:"items"`

	loadsBy string
	has     func(Item) bool
}

// listPage is a page of a category.
type listPage struct {
	Title   string `json:"title"`
	LoadsBy string `json:"loads_by"` // trigger that loads the next page: "scroll" or "button"
	Items   []Item `json:"items"`
	Next    int    `json:"next"` // number of the next page, 0 on the last one
}

func categories(items []Item) []category {
	isOf := func(name string) func(Item) bool { return func(i Item) bool { return i.Category == name } }
	all := []category{
		{Name: "lamps", Title: "Lamps", loadsBy: "scroll", has: isOf("lamps")},
		{Name: "chairs", Title: "Chairs", loadsBy: "button", has: isOf("chairs")},
		{Name: "tables", Title: "Tables", loadsBy: "scroll", has: isOf("tables")},
		{Name: "offers", Title: "Special offers", loadsBy: "button", has: func(i Item) bool { return i.ID%5 == 0 }},
	}
	for i := range all {
		all[i].Items = len(all[i].of(items))
	}
	return all
}

// of returns the items in the category.
func (c category) of(items []Item) []Item {
	in := []Item{} // a JSON list, not null
	for _, i := range items {
		if c.has(i) {
			in = append(in, i)
		}
	}
	return in
}

// page returns a page of the category; numbers begin at 1.
func (c category) page(items []Item, number int) listPage {
	in := c.of(items)
	from := min((number-1)*pageSize, len(in))
	to := min(from+pageSize, len(in))
	page := listPage{Title: c.Title, LoadsBy: c.loadsBy, Items: in[from:to]}
	if to < len(in) {
		page.Next = number + 1
	}
	return page
}

// api serves the JSON API.
func api(items []Item) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/categories", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"categories": categories(items)})
	})
	mux.HandleFunc("GET /api/categories/{name}/items", func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.Atoi(r.FormValue("page"))
		for _, c := range categories(items) {
			if c.Name == r.PathValue("name") && err == nil && number > 0 && number <= len(items)/pageSize+1 {
				answer(w, c.page(items, number))
				return
			}
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc("GET /api/items/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil || id < 1 || id > len(items) {
			http.NotFound(w, r)
			return
		}
		answer(w, items[id-1])
	})
	return mux
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(value) // fails if the browser has left
}
