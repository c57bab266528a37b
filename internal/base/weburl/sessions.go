package weburl

import "strings"

// dropPathSessions removes session ids from the path of a URL:
//
//   - ";jsessionid=…" at the end of any segment, which servlet containers write
//     (Jakarta Servlet specification, section 7.1.3);
//   - a segment such as "(S(lit3py55t21z5v55vlm25s55))", which ASP.NET writes for
//     clients without cookies and takes out again before it looks at the path.
//
// The path ends at mark; its new end is returned.
func dropPathSessions(u string, mark int) (string, int) {
	_, start := bounds(u[:mark])
	var stack [stackBuffer]byte
	out := append(stack[:0], u[:start]...)
	for path := u[start:mark]; path != ""; {
		segment, rest := path, ""
		if i := strings.IndexByte(path[1:], '/'); i >= 0 {
			segment, rest = path[:i+1], path[i+1:]
		}
		before := len(out)
		out = appendWithoutSession(out, segment)
		if rest != "" && len(out) > before+1 && out[before+1] == '(' && isTicket(string(out[before+1:])) {
			out = out[:before]
		}
		path = rest
	}
	if len(out) == mark { // nothing was removed
		return u, mark
	}
	mark, out = len(out), append(out, u[mark:]...)
	return string(out), mark
}

// appendWithoutSession appends a segment and its slash without jsessionid. A
// segment that would then be a dot segment stays as it is: it is none to a
// server that sees the parameter.
func appendWithoutSession(out []byte, segment string) []byte {
	start := len(out)
	name, parameters, more := strings.Cut(segment, ";")
	out = append(out, name...)
	for more {
		var p string
		p, parameters, more = strings.Cut(parameters, ";")
		if !isServletSession(p) {
			out = append(append(out, ';'), p...)
		}
	}
	switch string(out[start:]) {
	case "/.", "/..":
		return append(out[:start], segment...)
	}
	return out
}

// isServletSession recognises "jsessionid=" and an id, without or with the names
// of servers that containers append: ".node1", "!-1234!5678", ":worker". Escapes
// and "&" are not of an id, but a query gone astray.
func isServletSession(parameter string) bool {
	const name = "jsessionid="
	if len(parameter) < len(name) || !strings.EqualFold(parameter[:len(name)], name) {
		return false
	}
	return consistsOf(parameter[len(name):], func(c byte) bool {
		return isUnreserved(c) || c == '!' || c == ':' || c == '*' || c == '$' || c == '+'
	})
}

// isTicket recognises tickets in a segment that starts with a parenthesis, a letter and a value each: "(X(1)
// S(…)A(…)F(…))" without the space. One of them must be a session, which is 24
// letters and digits; parentheses alone may be part of a name.
func isTicket(segment string) bool {
	text, session := segment[1:], false
	for len(text) > 1 && text[1] == '(' {
		kind := text[0]
		value, rest, closed := strings.Cut(text[2:], ")")
		if !closed || strings.IndexByte("AFSX", kind) < 0 || !consistsOf(value, isUnreserved) {
			return false
		}
		if kind == 'S' {
			if len(value) != 24 || !consistsOf(value, isLetterOrDigit) {
				return false
			}
			session = true
		}
		text = rest
	}
	return session && text == ")"
}
