package scriptweb

// navigationPages have client-side routers or redirect by script.
func navigationPages() []Page {
	return []Page{
		at("push-state-router", Page{
			Text:    []string{"router home of 3 items"},
			Links:   []string{"/push-state-router/items/apples", "/push-state-router/items/pears", "/push-state-router/items/plums"},
			Without: []string{"router view of"},
		}),
		{
			Name: "push-state-route", Path: "/push-state-router/items/pears",
			Text: []string{"router view of pears"}, Without: []string{"router home"},
		},
		at("hash-router", Page{Text: []string{"hash view of the list"}, Links: []string{"/leaf/hash-router"}, Without: []string{"hash view of about"}}),
		{Name: "hash-route", Path: "/hash-router#/about", Text: []string{"hash view of about"}, Without: []string{"hash view of the list"}},
		at("leads-to-204", Page{Text: []string{"stays beside no content"}}),
		at("goes-back", Page{Text: []string{"stays in the history"}}),
		at("closes-itself", Page{Text: []string{"stays in the window"}}),
		at("replace-state", Page{Text: []string{"replaced address is deep"}, Links: []string{"/replace-state/deep/next"}}),
		at("location-redirect", Page{RedirectTo: "/location-redirect/target"}),
		at("location-replace", Page{RedirectTo: "/location-replace/target"}),
		at("location-later", Page{RedirectTo: "/location-later/target"}),
		at("meta-refresh", Page{RedirectTo: "/meta-refresh/target"}),
		at("meta-refresh-by-script", Page{RedirectTo: "/meta-refresh-by-script/target"}),
		at("form-redirect", Page{RedirectTo: "/form-redirect/target?from=form"}),
		at("redirect-loop", Page{RedirectTo: "/redirect-loop/back"}),
		{Name: "redirect-loop-back", Path: "/redirect-loop/back", RedirectTo: "/redirect-loop"},
		at("reload-loop", Page{MayFail: true, Render: bounded}),
	}
}
