package scriptweb

// heavyPages do not end or use much memory: at most 4 GiB if nothing stops them.
func heavyPages() []Page {
	return []Page{
		at("endless-loop", Page{Text: []string{"shown before the loop"}, Render: bounded}),
		at("endless-loop-later", Page{Text: []string{"shown before the later loop"}, Render: `{"actions":[{"wait":{"time":"2s"}}],"timeout":"3s"}`}),
		at("loop-after-article", Page{Text: []string{"article before the loop"}, Render: bounded}),
		at("huge-document", Page{Text: []string{"the first of many", "89999"}}),
		at("endless-promises", Page{MayFail: true, Render: bounded}),
		at("out-of-memory", Page{Fails: true, Render: `{"timeout":"20s"}`}),
		at("out-of-memory-buffers", Page{Fails: true, Render: `{"timeout":"20s"}`}),
		at("growing-document", Page{MayFail: true, Render: bounded}),
		at("million-nodes", Page{MayFail: true, Text: []string{"the first of a million"}, Render: `{"timeout":"20s"}`}),
		at("deep-nodes", Page{MayFail: true, Text: []string{"the top of the deep document"}, Render: `{"timeout":"20s"}`}),
		at("huge-text", Page{MayFail: true, Text: []string{"the beginning of much text"}, Render: `{"timeout":"20s"}`}),
	}
}
