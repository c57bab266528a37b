package robots

import "strings"

// specialFacts are the facts of section 2.2.3: the star and the dollar.
var specialFacts = []fact{
	{"2.2.3 figure 5: a dollar ends the path", "seine", all + "disallow: /\nallow: /this/path/exactly$", "/this/path/exactly", allowed},
	{"2.2.3 figure 5: nothing may follow", "seine", all + "disallow: /\nallow: /this/path/exactly$", "/this/path/exactly/not", forbidden},
	{"2.2.3 figure 5: a star is any octets", "seine", all + "disallow: /\nallow: /this/*/exactly", "/this/path/exactly", allowed},
	{"2.2.3 figure 5: or none", "seine", all + "disallow: /\nallow: /this/*/exactly", "/this//exactly", allowed},
	{"2.2.3 figure 5: slashes too", "seine", all + "disallow: /\nallow: /this/*/exactly", "/this/long/path/exactly", allowed},
	{"2.2.3 figure 5: what is around it must be there", "seine", all + "disallow: /\nallow: /this/*/exactly", "/this/exactly", forbidden},
	{"2.2.3 figure 6: an encoded star is a star", "seine", all + "Disallow: /path/file-with-a-%2A.html", "/path/file-with-a-*.html", forbidden},
	{"2.2.3 figure 6: and nothing else", "seine", all + "Disallow: /path/file-with-a-%2A.html", "/path/file-with-a-b.html", allowed},
	{"2.2.3 figure 6: an encoded dollar is a dollar", "seine", all + "Disallow: /path/foo-%24", "/path/foo-$", forbidden},
	{"2.2.3 figure 6: and ends nothing", "seine", all + "Disallow: /path/foo-%24", "/path/foo-", allowed},

	{"2.2.3 a star in the URI matches a star", "seine", all + "Disallow: /a*.html", "/a*.html", forbidden},
	{"2.2.3 a star in the URI is not special", "seine", all + "Disallow: /abc", "/a*", allowed},
	{"2.2.3 both encoded match in any case", "seine", all + "Disallow: /%2a", "/%2A", forbidden},
	{"2.2.3 both encoded dollars match", "seine", all + "Disallow: /a%24b", "/a%24b", forbidden},
	{"2.2.3 an encoded dollar at the end of a longer path", "seine", all + "Disallow: /a%24", "/a$b", forbidden},

	{"2.2.3 a star alone matches all", "seine", all + "Disallow: *", "/anything", forbidden},
	{"2.2.3 a star alone matches the root", "seine", all + "Disallow: *", "/", forbidden},
	{"2.2.3 a star stands for the first slash", "seine", all + "Disallow: *.gif", "/a/b.gif", forbidden},
	{"2.2.3 a star at the end changes no match", "seine", all + "Disallow: /a*", "/a", forbidden},
	{"2.2.3 a star does not match what is not there", "seine", all + "Disallow: /*/", "/a", allowed},
	{"2.2.3 stars side by side are one", "seine", all + "Disallow: /a**b", "/ab", forbidden},
	{"2.2.3 several stars", "seine", all + "Disallow: /*/b/*/d", "/a/b/c/d/e", forbidden},
	{"2.2.3 several stars match in their order", "seine", all + "Disallow: /*b*a", "/a-b", allowed},
	{"2.2.3 what they part does not overlap", "seine", all + "Disallow: /ab*ba", "/aba", allowed},
	{"2.2.3 a star spans the query", "seine", all + "Disallow: /*?", "/a/b?c", forbidden},
	{"2.2.3 and finds none where there is none", "seine", all + "Disallow: /*?", "/a/b", allowed},
	{"2.2.3 a star spans encoded octets", "seine", all + "Disallow: /a*b", "/aツb", forbidden},
	{"2.2.3 a star does not go back for ever", "seine", all + "Disallow: /" + strings.Repeat("*a", 50) + "b", "/" + strings.Repeat("a", 5000), allowed},

	{"2.2.3 a dollar is of the query's end", "seine", all + "Disallow: /*.php$", "/a.php?b=.php", forbidden},
	{"2.2.3 a dollar is not of the path's end before a query", "seine", all + "Disallow: /*.php$", "/a.php?b", allowed},
	{"2.2.3 star and dollar match all", "seine", all + "Disallow: *$", "/anything", forbidden},
	{"2.2.3 a star before a dollar takes the last", "seine", all + "Disallow: /a*b$", "/a-b-b", forbidden},
	{"2.2.3 which must be last", "seine", all + "Disallow: /a*b$", "/a-b-c", allowed},
	{"2.2.3 and not the first itself", "seine", all + "Disallow: /a*a$", "/a", allowed},
	{"2.2.3 a slash and a dollar are the root", "seine", all + "Disallow: /$", "/", forbidden},
	{"2.2.3 and nothing below", "seine", all + "Disallow: /$", "/a", allowed},
	{"2.2.3 a dollar in the middle is itself", "seine", all + "Disallow: /a$b", "/a$b", forbidden},
	{"2.2.3 and ends nothing there", "seine", all + "Disallow: /a$b", "/a", allowed},
	{"2.2.3 a dollar before the last is itself", "seine", all + "Disallow: /a$$", "/a$", forbidden},
	{"2.2.3 the last then ends the path", "seine", all + "Disallow: /a$$", "/a$$", allowed},
	{"2.2.3 a dollar before a star is itself", "seine", all + "Disallow: /a$*", "/a$b", forbidden},
	{"2.2.3 a dollar ends a path before a comment", "seine", all + "Disallow: /a$ # end", "/ab", allowed},
}
