package weburl

import "net/netip"

// hostBytes maps the bytes of plain host names to lower case, all others to 0.
// The underscore is not for host names, but found in them.
var hostBytes = func() (table [256]byte) {
	for c := range table {
		b := byte(c)
		switch {
		case isLetter(b):
			table[c] = lower(b)
		case isDigit(b), b == '-', b == '.', b == '_':
			table[c] = b
		}
	}
	return table
}()

// appendHost appends a plain host name or IPv4 address. It leaves to the slow
// path: IDNA in any spelling, user information, IPv6, empty labels and the
// trailing dot, and names with a last label that might be a number, since the
// standard reads these as IPv4 addresses.
func appendHost(out []byte, text string) (_ []byte, rest string, ok bool) {
	start, label, n := len(out), len(out), 0
	for n < len(text) && hostBytes[text[n]] != 0 {
		c := hostBytes[text[n]]
		out = append(out, c)
		n++
		if c != '.' {
			continue
		}
		if !isPlainLabel(out[label : len(out)-1]) {
			return out, text, false
		}
		label = len(out)
	}
	if !isPlainLabel(out[label:]) {
		return out, text, false
	}
	ok = isLetter(out[label]) || label > start && isIPv4(text[:n])
	return out, text[n:], ok
}

// isPlainLabel reports whether a lower-case label is neither empty nor IDNA
// (RFC 5890 section 2.3.2.1).
func isPlainLabel(label []byte) bool {
	return len(label) > 0 && (len(label) < 4 || string(label[:4]) != "xn--")
}

// isIPv4 reports whether host is an address in the canonical spelling: four
// decimal numbers without leading zeros.
func isIPv4(host string) bool {
	if !isDigit(host[0]) {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Is4()
}

// appendPort appends the port in text, which starts with its colon, unless it
// is empty or the default. It leaves leading zeros and numbers out of range to
// the slow path.
func appendPort(out []byte, text, standard string) (_ []byte, rest string, ok bool) {
	n := 1
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	port, rest := text[1:n], text[n:]
	switch {
	case port == "" || port == standard:
		return out, rest, true
	case len(port) > 5 || len(port) == 5 && port > "65535":
		return out, text, false
	case port[0] == '0' && port != "0":
		return out, text, false
	}
	return append(out, text[:n]...), rest, true
}
