package htmlpage

// relation is the set of link types of a rel attribute that matter here.
type relation uint8

const (
	relAlternate relation = 1 << iota
	relCanonical
	relNext
	relNoFollow // nofollow, ugc or sponsored
	relPrev
	relStylesheet
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
	case is(token, "nofollow"), is(token, "ugc"), is(token, "sponsored"):
		return relNoFollow
	case is(token, "canonical"):
		return relCanonical
	case is(token, "next"):
		return relNext
	case is(token, "prev"), is(token, "previous"):
		return relPrev
	case is(token, "alternate"):
		return relAlternate
	case is(token, "stylesheet"):
		return relStylesheet
	}
	return 0
}
