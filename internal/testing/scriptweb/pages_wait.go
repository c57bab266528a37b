package scriptweb

// waitPages each need an option: a wait condition, a user script, or blocked resources.
func waitPages() []Page {
	return []Page{
		at("wait-selector", Page{Text: []string{"late by selector"}, Render: `{"actions":[{"wait":"#late"}]}`}),
		at("wait-expression", Page{Text: []string{"late by expression"}, Render: `{"actions":[{"wait":{"expression":"window.pageIsReady === true"}}]}`}),
		at("wait-time", Page{Text: []string{"late by time"}, Render: `{"actions":[{"wait":{"time":"2s"}}]}`}),
		at("script-before", Page{Text: []string{"greeting given: hello"}, Render: `{"init_script":"window.greeting = 'hel' + 'lo'"}`}),
		at("script-after", Page{Text: []string{"revealed by a call"}, Render: `{"actions":[{"script":"reveal()"}]}`}),
		at("block-types", Page{
			Text: []string{"shown without the other script"}, Without: []string{"tracked by the other script"},
			NotAsked: []string{"/block-types/tracker.js"}, Render: `{"block":{"types":["script"]}}`,
		}),
		at("block-default", Page{
			Text:     []string{"shown without pictures"},
			NotAsked: []string{"/block-default/font.woff2", "/block-default/picture.png", "/block-default/film.mp4"},
		}),
	}
}
