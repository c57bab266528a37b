package pages

import (
	"regexp"

	"seine/internal/base/lazyregexp"
)

// refusalWords replace advice for API clients by advice for users of the pages.
var refusalWords = []struct {
	said    func() *regexp.Regexp
	instead string
}{
	{lazyregexp.New(`: GET \S+/crawls lists the crawls, POST \S+/crawls creates one`), ": see the page Crawls"},
	{lazyregexp.New(`: use another name, change its spec \(PUT .*`), ": open that crawl, or use another name"},
	{lazyregexp.New(`: GET \S+/hosts lists some; "new": true accepts a host without URLs`), ": see the page Hosts"},
	{lazyregexp.New(`: GET \S+/dead-letters lists all`), ": see the page Dead letters"},
	{lazyregexp.New(`: GET \S+/processes lists all`), ": it may have ended meanwhile"},
	{lazyregexp.New(`: POST \S+/crawls or`), ": create one on the page Crawls or with"},
	{lazyregexp.New(`: GET \S+/spec/revisions lists all`), ": see the page of its spec"},
	{lazyregexp.New(`: DELETE \S+/crawls/\S+ deletes one`), ""},
	{lazyregexp.New(`: GET \S+/replays lists all`), ": see the page Replay"},
	{lazyregexp.New(`: DELETE \S+/replays/{replay} removes one`), ": remove one"},
	{lazyregexp.New(`: PUT another spec`), ": store another spec"},
	{lazyregexp.New(`send the URLs by POST \S+/seeds`), "add the URLs on the page Seeds"},
	{lazyregexp.New(`: get the spec again and change it`), ": load the page again and change it there"},
	{lazyregexp.New(`: use next of the previous page, or omit the cursor to start`), ": start at the first page"},
	{lazyregexp.New(`(?i)[.:]? send what \S+/openapi\.json says of this operation`), ""},
	{lazyregexp.New(`^request body is required`), "the field is empty"},
	{lazyregexp.New(`\bbody\.`), ""},
}

// inPageWords rewords an error of the API for the pages.
func inPageWords(detail string) string {
	for _, w := range refusalWords {
		detail = w.said().ReplaceAllString(detail, w.instead)
	}
	return detail
}
