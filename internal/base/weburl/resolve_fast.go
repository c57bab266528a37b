package weburl

import "bytes"

// Functions of this file and of host.go build the canonical URL in out, which
// they extend and return. Their ok is false when they met something they leave
// to the slow path; out is of no use then.

// stackBuffer is where a canonical URL is built before it becomes a string. One
// that is longer costs a second allocation, nothing more.
const stackBuffer = 256

// fastAbsolute canonicalises a stripped absolute URL whose scheme ends at colon.
func fastAbsolute(text string, colon int) (string, bool) {
	var stack [stackBuffer]byte
	out, ok := appendAbsolute(stack[:0], text, colon)
	return finish(out, text, ok)
}

// fastResolve resolves a stripped, non-empty reference.
func (b *Base) fastResolve(text string, colon int) (string, bool) {
	var stack [stackBuffer]byte
	out, ok := b.appendReference(stack[:0], text, colon)
	return finish(out, text, ok)
}

// finish makes the string, without an allocation where text is canonical.
func finish(out []byte, text string, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	if string(out) == text {
		return text, true
	}
	return string(out), true
}

// appendReference dispatches on the kinds of reference of RFC 3986 section 4.2.
func (b *Base) appendReference(out []byte, text string, colon int) (_ []byte, ok bool) {
	switch {
	case colon > 0:
		return appendAbsolute(out, text, colon)
	case text[0] == '?':
		return appendQuery(append(out, b.url[:b.query]...), text)
	case text[0] != '/':
		return appendPath(append(out, b.url[:b.dir]...), b.path, text)
	case len(text) > 1 && text[1] == '/':
		return appendNetworkPath(out, b.scheme, text)
	default:
		return appendPath(append(out, b.url[:b.path+1]...), b.path, text[1:])
	}
}

// appendAbsolute appends a URL with a scheme. Without two slashes behind the
// scheme the meaning depends on the base, and it is rare.
func appendAbsolute(out []byte, text string, colon int) (_ []byte, ok bool) {
	if colon == 0 || len(text) < colon+3 || text[colon+1:colon+3] != "//" {
		return out, false
	}
	return appendNetworkPath(out, canonicalScheme(text[:colon]), text[colon+1:])
}

// appendNetworkPath appends "//host:port/path?query".
func appendNetworkPath(out []byte, scheme, text string) (_ []byte, ok bool) {
	out = append(append(out, scheme...), "://"...)
	out, text, ok = appendHost(out, text[2:])
	if ok && text != "" && text[0] == ':' {
		out, text, ok = appendPort(out, text, DefaultPort(scheme))
	}
	if !ok || text != "" && text[0] != '/' && text[0] != '?' {
		return out, false
	}
	if text != "" && text[0] == '/' {
		text = text[1:]
	}
	root := len(out)
	return appendPath(append(out, '/'), root, text)
}

// appendPath appends the path in text, and the query behind it, to out, which
// ends in a slash. The slash at root is where the path begins. Dot segments are
// removed on the way (RFC 3986 section 5.2.4); since appendEncoded has decoded
// them by then, "%2e" counts as a dot as the WHATWG parser wants it.
func appendPath(out []byte, root int, text string) (_ []byte, ok bool) {
	for {
		start := len(out)
		out, text, ok = appendEncoded(out, text, &pathBytes)
		if !ok {
			return out, false
		}
		more := text != "" && text[0] == '/'
		switch string(out[start:]) {
		case ".":
			out = out[:start]
		case "..":
			out = out[:parent(out[:start], root)]
		default:
			if more {
				out = append(out, '/')
			}
		}
		if !more {
			return appendQuery(out, text)
		}
		text = text[1:]
	}
}

// parent returns the length of the directory above dir, which ends in a slash.
// The root is its own parent.
func parent(dir []byte, root int) int {
	last := len(dir) - 1
	if last == root {
		return len(dir)
	}
	return 1 + bytes.LastIndexByte(dir[:last], '/')
}

// appendQuery appends a query, text being empty or starting with its "?".
func appendQuery(out []byte, text string) (_ []byte, ok bool) {
	if len(text) <= len("?") {
		return out, true
	}
	out, _, ok = appendEncoded(append(out, '?'), text[1:], &queryBytes)
	return out, ok
}
