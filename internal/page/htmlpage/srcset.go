package htmlpage

// nextCandidate cuts the URL of the next image candidate from a srcset attribute, by the steps of
// section 4.8.4.2.1 except the last: a link with invalid descriptors is still a link. It returns an
// empty URL at the end.
func nextCandidate(b []byte) (url, rest []byte) {
	i := 0
	for i < len(b) && (has(b[i], isSpace) || b[i] == ',') {
		i++
	}
	end := until(b, i, isSpace)
	url, rest = b[i:end], b[end:]
	if n := len(url); n > 0 && url[n-1] == ',' {
		for n > 0 && url[n-1] == ',' {
			n--
		}
		return url[:n], rest
	}
	return url, rest[descriptorsEnd(rest):]
}

// descriptorsEnd returns where the descriptors at the start of b end: at the
// first comma that is not in parentheses.
func descriptorsEnd(b []byte) int {
	inside := false
	for i, c := range b {
		switch {
		case c == '(':
			inside = true
		case c == ')':
			inside = false
		case c == ',' && !inside:
			return i
		}
	}
	return len(b)
}
