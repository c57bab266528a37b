package scriptweb

// treePages have text outside the document's own tree: in shadow roots and frames.
func treePages() []Page {
	return []Page{
		at("open-shadow", Page{
			Text:  []string{"text of the open shadow", "text in the open slot", "fallback of an empty slot"},
			Links: []string{"/leaf/open-shadow", "/leaf/open-slot"},
		}),
		at("closed-shadow", Page{
			Text:  []string{"text of the closed shadow", "text in the closed slot"},
			Links: []string{"/leaf/closed-shadow", "/leaf/closed-slot"},
		}),
		at("nested-shadow", Page{Text: []string{"text of the inner shadow"}, Links: []string{"/leaf/nested-shadow"}}),
		at("declarative-shadow", Page{Text: []string{"text of the declared shadow"}, Links: []string{"/leaf/declarative-shadow"}}),
		at("same-origin-iframe", Page{Text: []string{"text of the same origin"}, Links: []string{"/same-origin-iframe/deeper/page"}}),
		at("nested-iframe", Page{Text: []string{"text of the innermost frame"}, Links: []string{"/leaf/nested-iframe"}}),
		at("cross-origin-iframe", Page{
			Text: []string{"text of the other origin"}, Links: []string{"//other/leaf/cross-origin"},
			Asked: []string{"/cross-origin-iframe/inner"}, NeedsOther: true,
		}),
		at("cross-site-iframe", Page{
			Text: []string{"text of the other site"}, Asked: []string{"/cross-site-iframe/inner"}, NeedsOther: true,
		}),
		at("sandboxed-iframe", Page{Text: []string{"text of the sandboxed frame"}, Links: []string{"/leaf/sandboxed-iframe"}}),
		at("srcdoc-iframe", Page{Text: []string{"text of the srcdoc frame"}, Links: []string{"/leaf/srcdoc-iframe"}}),
		at("blob-iframe", Page{Text: []string{"text of the blob frame"}, Links: []string{"/leaf/blob-iframe"}}),
		at("written-iframe", Page{Text: []string{"text of the written frame"}, Links: []string{"/leaf/written-iframe"}, Render: bounded}), // its load never ends
	}
}
