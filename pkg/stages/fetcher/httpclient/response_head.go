package httpclient

import (
	"bytes"
	"slices"

	"golang.org/x/net/http/httpguts"

	"seine/internal/base/ascii"
)

// maxHead is how long a head may be to be cleaned. What is longer passes as it is: net/http refuses it at Config.MaxHeader.
const maxHead = 512 << 10

var startOfHead = []byte("HTTP/") // without its number

// headReader finds the heads of responses in the bytes of a connection, and hands them on cleaned: net/http loses a page
// for one bad line of its head, which browsers read. It begins with each request, and ends with the head of the final
// response: bytes of bodies pass as they are.
type headReader struct {
	reading bool   // the head is incomplete
	begun   bool   // startOfHead was read and handed on
	pending []byte // of the head, as received
	seen    int    // bytes of pending before its last line, which have no end of the head
	ready   []byte // for net/http
	err     error  // that comes after ready
}

// take takes bytes of the connection, and an error that came with them. It returns the head of the final response as received
// once that is complete.
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

// begin reads startOfHead, behind empty lines that come before some heads, and reports whether it is there. net/http
// gets it at once: its time is that of the first byte.
func (r *headReader) begin() bool {
	head := bytes.TrimLeft(r.pending, "\r\n")
	r.reading = bytes.HasPrefix(head, startOfHead[:min(len(head), len(startOfHead))])
	if r.begun = r.reading && len(head) >= len(startOfHead); r.begun {
		r.ready, r.pending = append(r.ready, startOfHead...), head[len(startOfHead):]
	}
	return r.begun
}

// endOfHead returns where the first empty line after from ends, -1 if there is none. A bare LF ends a line as well (RFC
// 9112 2.2), and so does CR CR LF.
func endOfHead(text []byte, from int) int {
	empty := false // what the line has so far
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

// interim reports whether a head is that of a 1xx response.
func interim(head []byte) bool {
	_, rest, _ := bytes.Cut(head, []byte(" "))
	return len(rest) > 0 && rest[0] == '1' && !bytes.HasPrefix(rest, []byte("101"))
}

// cleanFields returns the fields of a head without lines that are not fields, and with spaces for control characters (RFC
// 9110 5.5). A length of the body, or a coding, that is named several times is named once, and the coding identity, which
// means none, is left out. Where lengths differ, or a length stands beside a coding, they stay, for net/http to refuse.
func cleanFields(fields []byte) []byte {
	out := make([]byte, 0, len(fields)+8)
	kept, chunked := false, false
	for line := range bytes.Lines(fields) {
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			return append(out, "\r\n"...) // the end
		}
		if text[0] == ' ' || text[0] == '\t' { // it continues the line before
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

// hasLengthField reports whether a field names the length of the body.
func hasLengthField(fields []byte) bool {
	for line := range bytes.Lines(fields) {
		if name, _, colon := bytes.Cut(line, []byte(":")); colon && ascii.Is(bytes.TrimRight(name, " \t"), "content-length") {
			return true
		}
	}
	return false
}

// once returns the value of a list whose items are the same, and any other as it is.
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

// withSpaces has spaces for control characters.
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
