package pii

import (
	"net/netip"
	"strings"
)

const (
	maxIPv4 = len("255.255.255.255")
	maxIPv6 = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")
)

// ipv4 finds an IPv4 address at i.
func ipv4(s string, i int) span {
	end, dots := i, 0
	for end < len(s) && end-i <= maxIPv4 && (digit(s[end]) || s[end] == '.') {
		if s[end] == '.' {
			dots++
		}
		end++
	}
	if dots < 3 {
		return span{}
	}
	for end > i && s[end-1] == '.' {
		end--
	}
	addr, err := netip.ParseAddr(s[i:end])
	if err != nil || !personal(addr) || end < len(s) && wordByte(s[end]) || version(s, i) {
		return span{}
	}
	if parts := addr.As4(); max(parts[0], parts[1], parts[2], parts[3]) < 10 {
		return span{} // a section number, or a public resolver
	}
	return span{i, end, IP}
}

// personal reports whether an address may belong to a person.
func personal(a netip.Addr) bool {
	if a.Is4() && (a.As4()[0] == 255 || a.As4()[0] == 0) {
		return false
	}
	return !a.IsLoopback() && !a.IsUnspecified() && !a.IsMulticast()
}

// version reports whether a version begins at i: after a word for one or the name of a product
// ("Chrome/120.0.0.0"), or as the continuation of other numbers.
func version(s string, i int) bool {
	if i == 0 {
		return false
	}
	switch s[i-1] {
	case '.', '-':
		return true
	case '/':
		return i < 2 || s[i-2] != '/'
	}
	switch wordBefore(s, i) {
	case "v", "version", "versions", "ver", "release", "build", "firmware", "driver", "section", "chapter", "kapitel",
		"abschnitt", "oid", "rev", "revision", "update", "patch":
		return true
	}
	return strings.HasSuffix(s[:i], "§ ") || strings.HasSuffix(s[:i], "§")
}

// ipv6 finds an address whose first colon is at i.
func ipv6(s string, i int) span {
	start := i
	for start > 0 && i-start < 5 && hex(s[start-1]) {
		start--
	}
	if i-start > 4 || start > 0 && (wordByte(s[start-1]) || s[start-1] == ':' || s[start-1] == '.' || s[start-1] == '-') {
		return span{}
	}
	end, colons := i, 0
	for end < len(s) && end-start <= maxIPv6 && (hex(s[end]) || s[end] == ':' || s[end] == '.') {
		if s[end] == ':' {
			colons++
		}
		end++
	}
	if colons < 2 || end-start < len("1::2") {
		return span{}
	}
	for end > i && (s[end-1] == '.' || s[end-1] == ':' && !strings.HasSuffix(s[:end], "::")) {
		end--
	}
	text := s[start:end]
	if colons < 7 && !strings.Contains(text, "::") {
		return span{} // a time
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || !personal(addr.Unmap()) || end < len(s) && wordByte(s[end]) || !plausible(text) {
		return span{}
	}
	return span{start, end, IP}
}

// plausible distinguishes addresses from program text with two colons ("a::b"): they have a digit,
// and a group of four or at least three groups.
func plausible(text string) bool {
	groups, long := 0, false
	for _, g := range strings.Split(text, ":") {
		if g != "" {
			groups++
		}
		long = long || len(g) == 4
	}
	return strings.ContainsAny(text, "0123456789") && (groups >= 3 || long)
}

func hex(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
