package weburl

import (
	"strings"
	"unicode"
	"unicode/utf8"

	whatwgerrors "github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"

	"seine/internal/base/ascii"
)

// parser is the plain WHATWG parser. The module's canonicalizer profiles are
// not used: its Semantic one corrupts IDNA hosts.
var parser = whatwg.NewParser()

// slow canonicalises what the fast path declined. The complete parser takes time in the
// square of the segments of a path, and a page may have thousands of links of nothing
// else; so it is given only the authority, where text has a path that the fast path
// takes once it is written plainly.
func slow(b *Base, text string) (string, error) {
	spelt := b.withAuthority(plain(text))
	colon := schemeLength(spelt)
	if b != nil && spelt != "" && (colon == 0 || canonicalScheme(spelt[:colon]) != "") {
		if u, ok := b.fastResolve(spelt, colon); ok {
			return u, nil
		}
	}
	head, path, ok := cutAuthority(spelt)
	if !ok {
		return slowResolve(b, text)
	}
	u, err := slowResolve(b, head)
	if err != nil {
		return slowResolve(b, text) // which fails before the path, and quotes all
	}
	out, ok := appendPath([]byte(u), len(u)-1, path)
	if !ok {
		return slowResolve(b, text)
	}
	return string(out), nil
}

// cutAuthority cuts the path and query, without the first slash, from a reference that
// has an authority.
func cutAuthority(text string) (head, path string, ok bool) {
	start := 0
	if colon := schemeLength(text); colon > 0 {
		start = colon + len(":")
	}
	if !strings.HasPrefix(text[start:], "//") {
		return "", "", false
	}
	start += len("//")
	end := strings.IndexAny(text[start:], "/?")
	if end <= 0 {
		return "", "", false
	}
	end += start
	return text[:end], strings.TrimPrefix(text[end:], "/"), true
}

// withAuthority writes a plain reference with the two slashes that a scheme, and an
// authority, have before what follows: the parser takes any number of them. A scheme
// without them that is the base's means nothing.
func (b *Base) withAuthority(text string) string {
	colon := schemeLength(text)
	scheme, rest := "", text
	if colon > 0 {
		scheme, rest = text[:colon+1], text[colon+1:]
	}
	switch {
	case strings.HasPrefix(rest, "//"), scheme != "" && (b == nil || canonicalScheme(text[:colon]) != b.scheme):
		return scheme + "//" + strings.TrimLeft(rest, "/")
	case scheme != "" && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "?")):
		return rest
	case scheme != "" && rest != "":
		return "./" + rest
	}
	return text
}

// plain writes a reference as the parser takes it (URL standard, section 4.4): without
// tabs and line ends, with slashes for the backslashes of the path, and with U+FFFD for
// bytes that are not UTF-8.
func plain(text string) string {
	out := make([]byte, 0, len(text))
	query := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		query = query || r == '?'
		switch {
		case r == '\t' || r == '\n' || r == '\r':
		case r == '\\' && !query:
			out = append(out, '/')
		case r < ' ': // in a path or query it is encoded, elsewhere an error either way
			out = ascii.AppendEscape(out, byte(r))
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// slowResolve canonicalises a stripped, non-empty reference with the complete
// parser. Without a base it must be an absolute URL.
func slowResolve(b *Base, text string) (string, error) {
	u, err := parseReference(b, text)
	if err != nil {
		return "", newError(ErrInvalid, text, reason(err))
	}
	return serializeStable(u, text)
}

// parseReference calls the parser. The "#" it appends keeps spaces at the end,
// which were before a fragment. It removes line breaks before it decodes UTF-8, where the standard decodes first.
func parseReference(b *Base, text string) (*whatwg.Url, error) {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	if b == nil {
		return parser.Parse(text + "#")
	}
	base, err := b.parsed()
	if err != nil {
		return nil, err
	}
	return base.Parse(text + "#")
}

// parse prepares the base for slowResolve.
func (b *Base) parse() (*whatwg.Url, error) {
	u, err := parser.Parse(b.url)
	if err != nil {
		return nil, err
	}
	// The parser clones its base, and a clone fills this field lazily, which
	// would be a data race between goroutines.
	u.SearchParams()
	return u, nil
}

// serializeStable returns the canonical form of u if it is a fixed point. It is
// not for some hosts: the parser accepts a few names whose IDNA form it then
// refuses.
func serializeStable(u *whatwg.Url, text string) (string, error) {
	out, err := serialize(u, text)
	if err != nil {
		return "", err
	}
	if again, ok := fastAbsolute(out, schemeLength(out)); ok && again == out {
		return out, nil
	}
	reparsed, err := parser.Parse(out)
	if err != nil {
		return "", newError(ErrInvalid, text, reason(err))
	}
	if again, err := serialize(reparsed, text); err != nil || again != out {
		return "", newError(ErrInvalid, text, "it has no canonical form")
	}
	return out, nil
}

// serialize applies the rules of the canonical form to a parsed URL.
func serialize(u *whatwg.Url, text string) (string, error) {
	if canonicalScheme(u.Scheme()) == "" {
		return "", newError(ErrScheme, text, "")
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if host == "" || strings.HasSuffix(host, ".") {
		return "", newError(ErrInvalid, text, "the host ends in an empty label")
	}
	out := make([]byte, 0, stackBuffer)
	out = append(append(append(out, u.Scheme()...), "://"...), host...)
	if port := u.Port(); port != "" {
		out = append(append(out, ':'), port...)
	}
	out, _, ok := appendEncoded(out, u.Pathname(), &parsedPathBytes)
	if query := u.Query(); query != "" && ok {
		out, _, ok = appendEncoded(append(out, '?'), query, &queryBytes)
	}
	if !ok { // the parser has encoded what is doubtful
		return "", newError(ErrInvalid, text, "it has no canonical form")
	}
	return string(out), nil
}

// reason takes from a parser error what a user can act upon, and leaves out the
// copy of the whole input it carries.
func reason(err error) string {
	text := string(whatwgerrors.Type(err))
	if text == "" {
		return err.Error()
	}
	first, size := utf8.DecodeRuneInString(text)
	if second, _ := utf8.DecodeRuneInString(text[size:]); !unicode.IsUpper(second) {
		text = string(unicode.ToLower(first)) + text[size:]
	}
	if description := whatwgerrors.Description(err); description != "" {
		text += ": " + shorten(description)
	}
	return text
}
