package robots

import "strings"

// matches reports whether a path pattern matches a path from its start, RFC 9309
// section 2.2.3: "*" stands for any octets, "$" at the end for the end of the
// path. Both are in comparable form.
//
// Each literal between stars is taken at its first occurrence; a later one could
// only leave less path to the literals that follow. There is thus no
// backtracking, and the cost is linear in pattern and path.
func matches(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	literal, rest, star := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, literal) {
		return false
	}
	path = path[len(literal):]
	if !star {
		return !anchored || path == ""
	}
	return matchesAfterStar(rest, path, anchored)
}

// matchesAfterStar matches the rest of a pattern after its first star.
func matchesAfterStar(pattern, path string, anchored bool) bool {
	for {
		literal, rest, star := strings.Cut(pattern, "*")
		if !star && anchored {
			return strings.HasSuffix(path, literal)
		}
		i := strings.Index(path, literal)
		if i < 0 || !star {
			return i >= 0
		}
		path, pattern = path[i+len(literal):], rest
	}
}
