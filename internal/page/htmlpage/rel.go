package htmlpage

// relation is the set of relevant link types of a rel attribute.
type relation uint8

const (
	relAlternate relation = 1 << iota
	relCanonical
	relFeed
	relNext
	relNoFollow // nofollow, ugc or sponsored
	relPrev
	relStylesheet
	relResource // another type that is not a hyperlink, see HeaderLinks
)

func (r relation) has(t relation) bool { return r&t != 0 }

// parseRel reads a rel attribute (section 4.6.7). The standard separates link
// types by spaces; commas are common by mistake and no link type has one.
func parseRel(b []byte) (r relation) {
	for {
		var token []byte
		token, b = nextField(b)
		if len(token) == 0 {
			return r
		}
		r |= relations[string(lowered(token))]
	}
}

// relations are the relevant link types by name. The types that the table of section 4.6.7 lists as
// external resources are not hyperlinks.
var relations = map[string]relation{
	"nofollow": relNoFollow, "ugc": relNoFollow, "sponsored": relNoFollow,
	"canonical": relCanonical, "next": relNext, "prev": relPrev, "previous": relPrev, "alternate": relAlternate, "feed": relFeed,
	"stylesheet": relStylesheet, "dns-prefetch": relResource, "expect": relResource, "icon": relResource, "manifest": relResource,
	"modulepreload": relResource, "pingback": relResource, "preconnect": relResource, "prefetch": relResource, "preload": relResource,
}

// relTokens converts a rel attribute to the form of Link.Rel, up to maxRel bytes.
func relTokens(b []byte) string {
	var out []byte
	for {
		var token []byte
		token, b = nextField(b)
		if len(token) == 0 || len(out)+1+len(token) > maxRel {
			return string(out)
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, lowered(token)...)
	}
}
