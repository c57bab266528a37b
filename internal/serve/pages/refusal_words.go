package pages

import "regexp"

// refusalWords are what the API tells programs to do, and what a person does on the pages instead.
var refusalWords = []struct {
	said    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`: GET \S+/crawls lists those there are, POST \S+/crawls begins one`), ": the page Crawls has those there are"},
	{regexp.MustCompile(`: change its spec by PUT .*, or give another name`), ": open that one, or give another name"},
	{regexp.MustCompile(`: GET \S+/hosts lists some; "new": true takes one that nothing is known of yet`), ": the page Hosts has some"},
	{regexp.MustCompile(`: GET \S+/dead-letters lists those there are`), ": the page Dead letters has those there are"},
	{regexp.MustCompile(`: GET \S+/processes lists those there are`), ": it may have ended meanwhile"},
	{regexp.MustCompile(`: POST \S+/crawls begins one, and so does`), ": begin one on the page Crawls, or by"},
	{regexp.MustCompile(`: GET \S+/spec/revisions lists those there are`), ": the page of its spec has those there are"},
	{regexp.MustCompile(`: DELETE \S+/crawls/\S+ deletes one`), ""},
	{regexp.MustCompile(`: GET \S+/replays lists those there are`), ": the page Replay has those there are"},
	{regexp.MustCompile(`: DELETE \S+/replays/{replay} forgets one`), ": forget one"},
	{regexp.MustCompile(`: PUT another spec`), ": store another spec"},
	{regexp.MustCompile(`send the URLs by POST \S+/seeds`), "feed the URLs on the page Seeds"},
	{regexp.MustCompile(`: get the spec again, and change that`), ": load the page again, and change what it shows"},
	{regexp.MustCompile(`: give next of the page before, or none to begin`), ": begin at the first page"},
	{regexp.MustCompile(`(?i)[.:]? send what \S+/openapi\.json says of this operation`), ""},
	{regexp.MustCompile(`^request body is required`), "there is no text in the field"},
	{regexp.MustCompile(`\bbody\.`), ""},
}

// inPageWords is a refusal of the API in the words of the pages.
func inPageWords(detail string) string {
	for _, w := range refusalWords {
		detail = w.said.ReplaceAllString(detail, w.instead)
	}
	return detail
}
