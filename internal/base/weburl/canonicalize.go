package weburl

import "strings"

// Version numbers the canonical form. It is stored with frontier state: URLs computed under another
// version cannot be compared with these, so any change to the results of [Canonicalize] must
// increment it. It does not cover a [Normalizer], which differs from crawl to crawl and has its own
// identity in [NormalizeOptions.Fingerprint]. A Normalizer returns canonical URLs, so state from
// before a change of it stays usable.
const Version = 1

// MaxLength is the longest canonical URL accepted, in bytes. Pages do not have
// longer addresses in practice (the sitemap protocol stops at 2,048, too);
// crawler traps do.
const MaxLength = 2048

// maxInput bounds the work an input can cause. An input this long, fragment not
// counted, could shrink below MaxLength only by being mostly escapes of plain
// letters, dot segments or user information.
const maxInput = 2 * MaxLength

// Canonicalize returns the canonical form of an absolute URL. It may return raw
// itself when that is canonical already.
//
// Errors wrap [ErrInvalid], [ErrScheme] or [ErrTooLong], quote the input and
// suggest the likely intent where the scheme was left out.
func Canonicalize(raw string) (string, error) {
	text := strip(raw)
	u, err := canonicalize(text)
	if err != nil {
		return "", withHint(err, text)
	}
	return u, nil
}

// canonicalize is Canonicalize for a stripped input and without hints.
func canonicalize(text string) (string, error) {
	colon, err := examine(text)
	if err != nil {
		return "", err
	}
	u, ok := fastAbsolute(text, colon)
	if !ok {
		u, err = slow(nil, text)
	}
	return bounded(u, text, err)
}

// strip removes what never takes part in parsing: control characters and spaces
// at both ends, then the fragment. In an http URL the first "#" always starts
// the fragment. Spaces before it are inside the URL and stay.
func strip(raw string) string {
	for raw != "" && raw[0] <= ' ' {
		raw = raw[1:]
	}
	for raw != "" && raw[len(raw)-1] <= ' ' {
		raw = raw[:len(raw)-1]
	}
	if i := strings.IndexByte(raw, '#'); i >= 0 {
		raw = raw[:i]
	}
	return raw
}

// examine rejects what needs no parsing to be rejected, and returns the
// position of the colon that ends the scheme: 0 where there is none.
func examine(text string) (colon int, err error) {
	colon = schemeLength(text)
	if colon > 0 && canonicalScheme(text[:colon]) == "" {
		return 0, newError(ErrScheme, text, "")
	}
	if len(text) > maxInput {
		return 0, newError(ErrTooLong, text, "")
	}
	return colon, nil
}

// bounded applies MaxLength to the result of either path.
func bounded(u, text string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if len(u) > MaxLength {
		return "", newError(ErrTooLong, text, "")
	}
	return u, nil
}
