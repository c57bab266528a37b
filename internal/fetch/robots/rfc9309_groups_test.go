package robots

// Files used by several facts.
const (
	merging    = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n"
	elsewhere  = "user-agent: *\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: BazBot\ndisallow: /baz\n"
	interposed = "User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /\nUser-agent: A\nDisallow: /2\nAllow: /1/ok\n"
	ownGroup   = "User-agent: *\nDisallow: /\n\nUser-agent: seine\nDisallow: /own\n"
	listed     = "User-agent: a\nUser-agent: b\nUser-agent: c\nDisallow: /x\n"
)

// groupFacts are the facts of section 2.2.1, which group a crawler obeys, and of the grammar that
// makes groups of lines.
var groupFacts = []fact{
	{"2.2.1 figure 1: the token of the line", "ExampleBot", "user-agent: ExampleBot\nDisallow: /x", "/x", forbidden},
	{"2.2.1 figure 1: the token leads the product", "ExampleBot/0.1 (+https://www.example.com/bot.html)", "user-agent: ExampleBot\nDisallow: /x", "/x", forbidden},
	{"2.2.1 figure 2: the first group's first rule", "ExampleBot", merging, "/foo", forbidden},
	{"2.2.1 figure 2: the first group's second rule", "ExampleBot", merging, "/bar", forbidden},
	{"2.2.1 figure 2: the second group's rule", "ExampleBot", merging, "/baz", forbidden},
	{"2.2.1 figure 2: no rule", "ExampleBot", merging, "/qux", allowed},
	{"2.2.1 figure 2: not for another", "BazBot", merging, "/foo", allowed},
	{"2.2.1 figure 3: the star's first rule", "ExampleBot", elsewhere, "/foo", forbidden},
	{"2.2.1 figure 3: the star's second rule", "ExampleBot", elsewhere, "/bar", forbidden},
	{"2.2.1 figure 3: not another's rule", "ExampleBot", elsewhere, "/baz", allowed},
	{"2.2.1 figure 3: the other has its rule", "BazBot", elsewhere, "/baz", forbidden},
	{"2.2.1 figure 3: and not the star's", "BazBot", elsewhere, "/foo", allowed},

	{"2.2.1 groups merge over others between them", "a", interposed, "/1", forbidden},
	{"2.2.1 and without case", "a", interposed, "/2", forbidden},
	{"2.2.1 one's Allow excepts from the other's Disallow", "a", interposed, "/1/ok", allowed},
	{"2.2.1 what is between is not merged", "a", interposed, "/3", allowed},
	{"2.2.1 groups of the star merge too", "seine", "User-agent: *\nDisallow: /1\nUser-agent: a\nDisallow: /\nUser-agent: *\nDisallow: /2", "/2", forbidden},
	{"2.2.1 the same agent twice above a rule", "a", "User-agent: a\nUser-agent: a\nDisallow: /x", "/x", forbidden},
	{"2.2.1 an agent alone and in a list", "b", "User-agent: a\nUser-agent: b\nDisallow: /1\nUser-agent: b\nDisallow: /2", "/1", forbidden},
	{"2.2.1 the list has not what it has alone", "a", "User-agent: a\nUser-agent: b\nDisallow: /1\nUser-agent: b\nDisallow: /2", "/2", allowed},

	{"2.2.1 the first of several agents", "a", listed, "/x", forbidden},
	{"2.2.1 the middle one", "b", listed, "/x", forbidden},
	{"2.2.1 the last one", "c", listed, "/x", forbidden},
	{"2.2.1 one not among them", "d", listed, "/x", allowed},
	{"2.2.1 star among several: an agent it names", "a", "User-agent: a\nUser-agent: *\nDisallow: /x", "/x", forbidden},
	{"2.2.1 star among several: all others", "seine", "User-agent: a\nUser-agent: *\nDisallow: /x", "/x", forbidden},

	{"2.2.1 a group of one's own replaces the star's", "seine", ownGroup, "/x", allowed},
	{"2.2.1 and has rules of its own", "seine", ownGroup, "/own", forbidden},
	{"2.2.1 who has none obeys the star's", "other", ownGroup, "/x", forbidden},
	{"2.2.1 it replaces the star's that follows, too", "seine", "User-agent: seine\nDisallow: /own\n\nUser-agent: *\nDisallow: /", "/x", allowed},
	{"2.2.1 an empty one replaces it as well", "seine", "User-agent: *\nDisallow: /\n\nUser-agent: seine\n", "/x", allowed},
	{"2.2.1 no group of one's own, no star: no rules", "seine", "User-agent: a\nDisallow: /", "/", allowed},
	{"2.2.1 no groups: no rules", "seine", "", "/", allowed},
	{"2.2.1 who has no token obeys the star's", "7", ownGroup, "/own", forbidden},

	{"2.2.1 tokens have no case: the line's", "examplebot", "User-agent: EXAMPLEBOT\nDisallow: /x", "/x", forbidden},
	{"2.2.1 tokens have no case: the crawler's", "EXAMPLEBOT", "User-agent: ExampleBot\nDisallow: /x", "/x", forbidden},
	{"2.2.1 tokens have underscores and hyphens", "example_bot-news", "User-agent: Example_Bot-News\nDisallow: /x", "/x", forbidden},
	{"2.2.1 tokens are whole: not the line's beginning", "g", "User-agent: googlebot\nDisallow: /x", "/x", allowed},
	{"2.2.1 tokens are whole: not the crawler's beginning", "googlebot", "User-agent: g\nDisallow: /x", "/x", allowed},
	{"2.2.1 tokens are whole: a hyphen parts none", "Googlebot-News", "User-agent: Googlebot\nDisallow: /x", "/x", allowed},
	{"2.2.1 tokens are whole: not the one before the hyphen", "Googlebot", "User-agent: Googlebot-News\nDisallow: /x", "/x", allowed},
	{"2.2.1 tokens are whole: not the line's end", "bot", "User-agent: examplebot\nDisallow: /x", "/x", allowed},
	{"2.2.1 a version behind the token", "examplebot", "User-agent: ExampleBot/2.1\nDisallow: /x", "/x", forbidden},
	{"2.2.1 words behind the token", "examplebot", "User-agent: ExampleBot images\nDisallow: /x", "/x", forbidden},
	{"2.2.1 a star behind the token", "examplebot", "User-agent: ExampleBot*\nDisallow: /x", "/x", forbidden},
	{"2.2.1 a star before it is for nobody", "examplebot", "User-agent: *bot\nDisallow: /x", "/x", allowed},
	{"2.2.1 a token in a comment of a header is none", "examplebot", "User-agent: Mozilla/5.0 (compatible; ExampleBot)\nDisallow: /x", "/x", allowed},
	{"2.2.1 a digit is not of a token", "spider", "User-agent: 360Spider\nDisallow: /x", "/x", allowed},
	{"2.2.1 a letter with an accent is not of a token", "caf", "User-agent: Café\nDisallow: /x", "/x", forbidden},
	{"2.2.1 words behind the star", "seine", "User-agent: * everyone\nDisallow: /x", "/x", forbidden},
	{"2.2.1 a comment behind the star", "seine", "User-agent: *# everyone\nDisallow: /x", "/x", forbidden},

	{"2.1 a rule ends the list of agents", "a", "User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2", "/2", allowed},
	{"2.1 so does an Allow", "a", "User-agent: a\nAllow: /1\nUser-agent: b\nDisallow: /2", "/2", allowed},
	{"2.1 so does a rule with an empty path", "a", "User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /2", "/2", allowed},
	{"2.1 so does a rule that can match nothing", "a", "User-agent: a\nDisallow: x\nUser-agent: b\nDisallow: /2", "/2", allowed},
	{"2.1 the last group may have no rules", "b", "User-agent: a\nDisallow: /\nUser-agent: b", "/x", allowed},
	{"2.1 an agent without a name takes no rules from the one before", "seine", all + "Disallow: /a\nUser-agent:\nDisallow: /b", "/b", allowed},
	{"2.1 nor does it end its group", "seine", all + "Disallow: /a\nUser-agent:\nDisallow: /b", "/a", forbidden},
	{"2.2.2 rules before any agent are for nobody", "seine", "Disallow: /a\nUser-agent: *\nDisallow: /b", "/a", allowed},
	{"2.2.2 and leave those behind it alone", "seine", "Disallow: /a\nUser-agent: *\nDisallow: /b", "/b", forbidden},
	{"2.2.2 rules without any agent are for nobody", "seine", "Disallow: /", "/", allowed},
}
