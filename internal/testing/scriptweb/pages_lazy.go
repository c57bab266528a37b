package scriptweb

// lazyPages show more when they are scrolled or clicked.
func lazyPages() []Page {
	return []Page{
		at("lazy-images", Page{
			Text:  []string{"lazy picture number 1", "lazy picture number 3"},
			Links: []string{"/lazy-images/far-1.png", "/lazy-images/far-2.png", "/lazy-images/far-3.png"},
		}),
		at("intersection-observer", Page{
			Text: []string{"the reader came to the end"}, Links: []string{"/intersection-observer/scrolled.png"},
			Render: `{"actions":[{"scroll":5}]}`,
		}),
		at("infinite-scroll", Page{
			Text:    []string{"endless entry 1 of 100000", "endless entry 21 of 100000", "endless entry 41 of 100000"},
			Links:   []string{"/leaf/endless-entry-41"},
			Without: []string{"endless entry 201 of 100000"},
			Render:  `{"actions":[{"scroll":3}]}`,
		}),
		at("finite-scroll", Page{
			Text: []string{"finite entry 1 of 70", "finite entry 70 of 70"}, Links: []string{"/leaf/finite-entry-70"},
			Render: `{"actions":[{"scroll":50}]}`,
		}),
		at("virtual-list", Page{Text: []string{"virtual row 1 of 100", "virtual row 50 of 100", "virtual row 100 of 100"}, Render: `{"actions":[{"scroll":50}]}`}),
		at("load-more-button", Page{
			Text:  []string{"first helping", "second helping", "third helping", "fourth helping"},
			Links: []string{"/leaf/load-more-first", "/leaf/load-more-fourth"}, Without: []string{"undefined helping"},
			Render: `{"actions":[{"click":"button.more","times":10}]}`,
		}),
		at("tabs-by-click", Page{
			Text: []string{"details of the second tab"}, Links: []string{"/leaf/tabs-by-click"},
			Render: `{"actions":[{"click":"#missing","timeout":"1s"},{"click":"#details"}]}`,
		}),
	}
}
