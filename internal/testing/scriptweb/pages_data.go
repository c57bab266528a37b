package scriptweb

// dataPages show data that they request from servers.
func dataPages() []Page {
	return []Page{
		at("fetch-list", Page{
			Text: []string{"fetched item one", "fetched item two"}, Links: []string{"/leaf/fetch-list-1", "/leaf/fetch-list-2"},
			Asked: []string{"/fetch-list/items.json"},
		}),
		at("fetch-chain", Page{Text: []string{"end of the chain of fetches"}}),
		at("fetch-post", Page{Text: []string{`the server was sent {"query": "pears"}`}, Asked: []string{"/fetch-post/query"}}),
		at("xhr-list", Page{
			Text: []string{"requested item one", "requested item two"}, Links: []string{"/leaf/xhr-list-1", "/leaf/xhr-list-2"},
			Asked: []string{"/xhr-list/items.json"},
		}),
		at("paginated-api", Page{
			Text:    []string{"paged entry 1 of 10", "paged entry 4 of 10", "paged entry 6 of 10"},
			Links:   []string{"/leaf/paged-entry-1", "/leaf/paged-entry-6"},
			Without: []string{"paged entry 7 of 10"},
			Render:  `{"actions":[{"click":"#more","times":2}]}`,
		}),
		at("websocket-data", Page{Text: []string{"message one of the socket", "message two of the socket"}, Asked: []string{"/websocket-data/socket"}}),
		at("sse-data", Page{Text: []string{"event one of the server", "event two of the server"}, Asked: []string{"/sse-data/events"}}),
		at("sse-open", Page{Text: []string{"event one of the server", "event two of the server"}, Render: bounded}),
		at("streamed-body", Page{Text: []string{"streamed in two parts"}}),
		at("template-modules", Page{
			Text: []string{"modules made this"}, Links: []string{"/leaf/template-modules"},
			Asked: []string{"/template-modules/view.js", "/template-modules/words.js"},
		}),
	}
}
