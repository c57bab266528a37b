package httpclient

import (
	"bytes"
	"slices"

	"golang.org/x/net/http/httpguts"

	"seine/internal/base/ascii"
)

// maxHead is the maximum length of a head that is cleaned. Longer ones pass unchanged: net/http
// refuses them at Config.MaxHeader.
const maxHead = 512 << 10

var startOfHead = []byte("HTTP/") // without the version number

// headReader finds the heads of responses in the bytes of a connection, and cleans them: for one
// bad line in its head, which browsers tolerate, net/http would refuse a page. It begins with each
// request, and ends with the head of the final response: the bytes of bodies pass unchanged.
type headReader struct {
	reading bool   // the head is incomplete
	begun   bool   // startOfHead was read and passed on
	pending []byte // part of the head, as received
	seen    int    // bytes of pending before its last line, which contain no end of the head
	ready   []byte // for net/http
	err     error  // returned after ready
}

// take processes bytes of the connection, and an error that was returned with them. It returns the
// head of the final response as received once that is complete.
func (r *headReader) take(p []byte, err error) (final []byte) {
	r.pending, r.err = append(r.pending, p...), err
	for r.reading && (r.begun || r.begin()) {
		end := endOfHead(r.pending, r.seen)
		if end < 0 {
			r.seen = max(0, bytes.LastIndexByte(r.pending, '\n'))
			break
		}
		head := r.pending[:end]
		r.pending, r.seen, r.begun = r.pending[len(head):], 0, false
		status := bytes.IndexByte(head, '\n') + 1
		r.ready = append(append(r.ready, head[:status]...), cleanFields(head[status:])...)
		if !interim(head) {
			r.reading, final = false, slices.Concat(startOfHead, head)
		}
	}
	if r.reading = r.reading && err == nil && len(r.pending) <= maxHead; !r.reading {
		r.ready, r.pending = append(r.ready, r.pending...), nil
	}
	return final
}

// begin reads startOfHead, after the empty lines before some heads, and reports whether it is
// complete. It passes it to net/http at once, which determines the time of the first byte.
func (r *headReader) begin() bool {
	head := bytes.TrimLeft(r.pending, "\r\n")
	r.reading = bytes.HasPrefix(head, startOfHead[:min(len(head), len(startOfHead))])
	if r.begun = r.reading && len(head) >= len(startOfHead); r.begun {
		r.ready, r.pending = append(r.ready, startOfHead...), head[len(startOfHead):]
	}
	return r.begun
}

// endOfHead returns the end of the first empty line after from, -1 if there is none. A bare LF also
// ends a line (RFC 9112 2.2), and so does CR CR LF.
func endOfHead(text []byte, from int) int {
	empty := false // the line so far
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n' && empty:
			return i + 1
		case c == '\n':
			empty = true
		case c != '\r':
			empty = false
		}
	}
	return -1
}

// interim reports whether a head is that of a 1xx response other than 101.
func interim(head []byte) bool {
	_, rest, _ := bytes.Cut(head, []byte(" "))
	return len(rest) > 0 && rest[0] == '1' && !bytes.HasPrefix(rest, []byte("101"))
}

// cleanFields returns the fields of a head without invalid lines, and with control characters
// replaced by spaces (RFC 9110 5.5). It merges repeated equal body lengths or codings, and removes
// the coding identity, which means none. Lengths that differ, or a length beside a coding, are
// kept, so that net/http refuses them.
func cleanFields(fields []byte) []byte {
	out := make([]byte, 0, len(fields)+8)
	kept, chunked := false, false
	for line := range bytes.Lines(fields) {
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			return append(out, "\r\n"...) // the end
		}
		if text[0] == ' ' || text[0] == '\t' { // continues the previous line
			if kept {
				out = append(append(out, withSpaces(text)...), "\r\n"...)
			}
			continue
		}
		name, value, colon := bytes.Cut(text, []byte(":"))
		name = bytes.TrimRight(name, " \t")
		kept = colon && httpguts.ValidHeaderFieldName(string(name))
		switch {
		case ascii.Is(name, "content-length"):
			value = once(bytes.TrimRight(value, " \t\r"))
		case ascii.Is(name, "transfer-encoding"):
			value = once(bytes.Trim(bytes.ToLower(value), " \t\r,"))
			again := chunked && !hasLengthField(fields)
			chunked = string(value) == "chunked"
			kept = kept && string(value) != "identity" && !(again && chunked)
		default:
			value = withSpaces(value)
		}
		if kept {
			out = append(append(append(append(out, name...), ':'), value...), "\r\n"...)
		}
	}
	return out
}

// hasLengthField reports whether a field gives the length of the body.
func hasLengthField(fields []byte) bool {
	for line := range bytes.Lines(fields) {
		if name, _, colon := bytes.Cut(line, []byte(":")); colon && ascii.Is(bytes.TrimRight(name, " \t"), "content-length") {
			return true
		}
	}
	return false
}

// once returns the single value of a list with equal items, and any other list unchanged.
func once(list []byte) []byte {
	first, rest, more := bytes.Cut(list, []byte(","))
	first = bytes.Trim(first, " \t")
	for item := []byte(nil); more; {
		if item, rest, more = bytes.Cut(rest, []byte(",")); !bytes.Equal(bytes.Trim(item, " \t"), first) {
			return list
		}
	}
	return first
}

// withSpaces replaces control characters by spaces.
func withSpaces(text []byte) []byte {
	if !slices.ContainsFunc(text, isControl) {
		return text
	}
	text = bytes.Clone(text)
	for i, c := range text {
		if isControl(c) {
			text[i] = ' '
		}
	}
	return text
}

func isControl(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }
