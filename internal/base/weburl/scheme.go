package weburl

// schemeLength returns the length of the scheme of text, 0 when it has none:
// a letter, then letters, digits, "+", "-" or ".", then a colon (RFC 3986
// section 3.1). A scheme broken by a tab or a line feed counts as none here and
// is left to the slow path, which removes those first.
func schemeLength(text string) int {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isLetter(c):
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// canonicalScheme returns "http" or "https" for any spelling of these, and ""
// for every other scheme.
func canonicalScheme(s string) string {
	switch {
	case s == "https" || len(s) == 5 && lower(s[4]) == 's' && isHTTP(s[:4]):
		return "https"
	case len(s) == 4 && isHTTP(s):
		return "http"
	}
	return ""
}

// isHTTP reports whether four letters spell "http" in either case.
func isHTTP(s string) bool {
	return lower(s[0]) == 'h' && lower(s[1]) == 't' && lower(s[2]) == 't' && lower(s[3]) == 'p'
}

// DefaultPort returns the port that a canonical URL of the scheme leaves out.
func DefaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// lower folds an ASCII letter to lower case. Other bytes may change, though
// never into a letter's place: compare the result with letters only.
func lower(c byte) byte { return c | 0x20 }

func isLetter(c byte) bool { return lower(c)-'a' < 26 }

func isDigit(c byte) bool { return c-'0' < 10 }
