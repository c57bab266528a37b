package specfile

import "testing"

func TestSelectorsForBrowsers(t *testing.T) {
	for text, right := range map[string]bool{
		"button.more": true, "a[href^='/p/'] > b": true, "#list li:nth-child(2 of .new)": true, "div:has(> img)": true,
		":is(h1, h2)": true, "a:any-link": true, `.md\:contains`: true, `[title=":contains(x)"]`: true, `[title="a!=b"]`: true,
		"div[": false, "a >": false, "": false, "..x": false,
		"a:contains(More)": false, "a:matchesOwn(^More$)": false, "[href#=(x)]": false, "[href!=x]": false, "form :input": false,
	} {
		if err := browserSelector(text); (err == nil) != right {
			t.Errorf("%q: %v", text, err)
		}
	}
}
