package pii

import "strings"

// Maximum lengths of the parts of an address (RFC 5321, section 4.5.3.1).
const (
	maxLocal  = 64
	maxDomain = 255
)

// email finds the address around the "@" at i (RFC 5321; beyond ASCII, RFC 6531). The local part is
// not quoted, and has only characters that occur in real addresses. The domain has a dot and does
// not end like a file name.
func email(s string, i int) span {
	start := i
	for start > 0 && i-start < maxLocal && localByte(s[start-1]) {
		start--
	}
	for start < i && strings.IndexByte(".-'%+", s[start]) >= 0 {
		start++
	}
	end := domainEnd(s, i+1)
	if start == i || s[i-1] == '.' || end == 0 {
		return span{}
	}
	return span{start, end, Email}
}

func localByte(c byte) bool {
	return wordByte(c) || c >= 0x80 || c == '.' || c == '-' || c == '+' || c == '%' || c == '\''
}

// domainEnd returns the end of the domain at i, or 0 if there is none.
func domainEnd(s string, i int) int {
	end, last := i, i
	for end < len(s) && end-i < maxDomain && (letter(s[end]) || digit(s[end]) || s[end] >= 0x80 || s[end] == '-' || s[end] == '.') {
		if s[end] == '.' {
			if end == last { // an empty label
				break
			}
			last = end + 1
		}
		end++
	}
	for end > i && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	domain := s[i:end]
	dot := strings.LastIndexByte(domain, '.')
	if dot < 1 || !topLevel(domain[dot+1:]) {
		return 0
	}
	return end
}

// topLevel reports whether a label may be the last of a domain: letters, or the ASCII form of
// others, except extensions of files ("logo@2x.png").
func topLevel(label string) bool {
	if len(label) < 2 {
		return false
	}
	switch label = strings.ToLower(label); label {
	case "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "css", "js", "html", "pdf":
		return false
	}
	if strings.HasPrefix(label, "xn--") {
		return true
	}
	for i := range len(label) {
		if !letter(label[i]) && label[i] < 0x80 {
			return false
		}
	}
	return true
}
