package scriptweb

// slowPages are never idle or wait for missing resources; their text must be found in bounded time.
func slowPages() []Page {
	shows := func(name, text string) Page {
		return at(name, Page{Text: []string{text}, Render: bounded})
	}
	return []Page{
		shows("never-idle", "shown beside polls"),
		shows("long-poll", "shown beside a long poll"),
		shows("never-still", "shown beside a clock"),
		shows("slow-script", "shown before a missing script"),
		shows("slow-async-script", "shown beside a missing script"),
		shows("slow-style", "shown before a missing style"),
		shows("slow-iframe", "shown around a missing frame"),
		at("late-timer", Page{Text: []string{"shown by a timer"}}),
		at("polled-article", Page{Text: []string{"article beside polls"}}),
		at("long-polled-article", Page{Text: []string{"article beside a long poll"}}),
		at("slow-picture-article", Page{Text: []string{"article beside a slow picture"}}),
		at("broken-script", Page{Text: []string{"shown before the fault", "shown after the fault"}}),
	}
}
