package robots

// simpleExample is section 5.1, longestMatch section 5.2.
const (
	simpleExample = `User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`
	longestMatch = `User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
`
)

// exampleFacts are the examples of section 5.
var exampleFacts = []fact{
	{"5.1 all: the root", "seine", simpleExample, "/", allowed},
	{"5.1 all: a picture", "seine", simpleExample, "/image.gif", forbidden},
	{"5.1 all: a picture in a folder", "seine", simpleExample, "/a/b/image.gif", forbidden},
	{"5.1 all: a picture with a query", "seine", simpleExample, "/image.gif?size=1", allowed},
	{"5.1 all: the example", "seine", simpleExample, "/example/", forbidden},
	{"5.1 all: a page of the example", "seine", simpleExample, "/example/page.html", forbidden},
	{"5.1 all: the example without its slash", "seine", simpleExample, "/example", allowed},
	{"5.1 all: the publications", "seine", simpleExample, "/publications/", allowed},
	{"5.1 all: a picture of the publications", "seine", simpleExample, "/publications/image.gif", allowed},
	{"5.1 foobot: the root", "foobot", simpleExample, "/", forbidden},
	{"5.1 foobot: the publications", "foobot", simpleExample, "/publications/", forbidden},
	{"5.1 foobot: the page", "foobot", simpleExample, "/example/page.html", allowed},
	{"5.1 foobot: the picture", "foobot", simpleExample, "/example/allowed.gif", allowed},
	{"5.1 foobot: another picture", "foobot", simpleExample, "/example/other.gif", forbidden},
	{"5.1 barbot: the page", "barbot", simpleExample, "/example/page.html", forbidden},
	{"5.1 barbot: the example", "barbot", simpleExample, "/example/", allowed},
	{"5.1 barbot: a picture", "barbot", simpleExample, "/image.gif", allowed},
	{"5.1 bazbot: the page", "bazbot", simpleExample, "/example/page.html", forbidden},
	{"5.1 bazbot: a picture", "bazbot", simpleExample, "/image.gif", allowed},
	{"5.1 quxbot: the root", "quxbot", simpleExample, "/", allowed},
	{"5.1 quxbot: the page", "quxbot", simpleExample, "/example/page.html", allowed},
	{"5.1 quxbot: a picture", "quxbot", simpleExample, "/image.gif", allowed},
	{"5.2 the picture", "foobot", longestMatch, "/example/page/disallowed.gif", forbidden},
	{"5.2 the picture as the text misspells it", "foobot", longestMatch, "/example/page/disallow.gif", allowed},
	{"5.2 the folder", "foobot", longestMatch, "/example/page/", allowed},
	{"5.2 outside", "foobot", longestMatch, "/other", allowed},
}
