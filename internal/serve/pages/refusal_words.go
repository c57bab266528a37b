package pages

import "regexp"

// refusalWords are what the API tells programs to do, and what a person does on the pages instead.
var refusalWords = []struct {
	said    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`: GET \S+/crawls lists the crawls, POST \S+/crawls creates one`), ": see the page Crawls"},
	{regexp.MustCompile(`: use another name, change its spec \(PUT .*`), ": open that crawl, or use another name"},
	{regexp.MustCompile(`: GET \S+/hosts lists some; "new": true takes one that nothing is known of yet`), ": see the page Hosts"},
	{regexp.MustCompile(`: GET \S+/dead-letters lists those there are`), ": see the page Dead letters"},
	{regexp.MustCompile(`: GET \S+/processes lists those there are`), ": it may have ended meanwhile"},
	{regexp.MustCompile(`: POST \S+/crawls or`), ": create one on the page Crawls or with"},
	{regexp.MustCompile(`: GET \S+/spec/revisions lists those there are`), ": see the page of its spec"},
	{regexp.MustCompile(`: DELETE \S+/crawls/\S+ deletes one`), ""},
	{regexp.MustCompile(`: GET \S+/replays lists those there are`), ": see the page Replay"},
	{regexp.MustCompile(`: DELETE \S+/replays/{replay} forgets one`), ": forget one"},
	{regexp.MustCompile(`: PUT another spec`), ": store another spec"},
	{regexp.MustCompile(`send the URLs by POST \S+/seeds`), "add the URLs on the page Seeds"},
	{regexp.MustCompile(`: get the spec again, and change that`), ": load the page again, and change what it shows"},
	{regexp.MustCompile(`: use next of the previous page, or omit the cursor to start`), ": start at the first page"},
	{regexp.MustCompile(`(?i)[.:]? send what \S+/openapi\.json says of this operation`), ""},
	{regexp.MustCompile(`^request body is required`), "the field is empty"},
	{regexp.MustCompile(`\bbody\.`), ""},
}

// inPageWords is a refusal of the API in the words of the pages.
func inPageWords(detail string) string {
	for _, w := range refusalWords {
		detail = w.said.ReplaceAllString(detail, w.instead)
	}
	return detail
}
