package htmlpage

import "seine/internal/base/ascii"

// relation is the set of link types of a rel attribute that matter here.
type relation uint8

const (
	relAlternate relation = 1 << iota
	relCanonical
	relFeed
	relNext
	relNoFollow // nofollow, ugc or sponsored
	relPrev
	relStylesheet
	relResource // another that makes no hyperlink, see HeaderLinks
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
		r |= relationOf(token)
	}
}

func relationOf(token []byte) relation {
	switch {
	case ascii.Is(token, "nofollow"), ascii.Is(token, "ugc"), ascii.Is(token, "sponsored"):
		return relNoFollow
	case ascii.Is(token, "canonical"):
		return relCanonical
	case ascii.Is(token, "next"):
		return relNext
	case ascii.Is(token, "prev"), ascii.Is(token, "previous"):
		return relPrev
	case ascii.Is(token, "alternate"):
		return relAlternate
	case ascii.Is(token, "stylesheet"):
		return relStylesheet
	case ascii.Is(token, "feed"):
		return relFeed
	case isResource(token):
		return relResource
	}
	return 0
}

// isResource knows the link types that the table of section 4.6.7 has as
// external resources, besides stylesheet.
func isResource(token []byte) bool {
	for _, name := range [...]string{
		"dns-prefetch", "expect", "icon", "manifest", "modulepreload", "pingback", "preconnect", "prefetch", "preload",
	} {
		if ascii.Is(token, name) {
			return true
		}
	}
	return false
}

// relTokens writes a rel attribute as Link.Rel has it, as much as maxRel allows.
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
		for _, c := range token {
			out = append(out, ascii.Lower(c))
		}
	}
}
