package httpclient

import (
	"bytes"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxHead is how long a head may be to be cleaned. What is longer passes as it is: net/http refuses it at Config.MaxHeader.
const maxHead = 512 << 10

var startOfHead = []byte("HTTP/") // without its number

// headReader finds the heads of responses in what a connection receives, and hands them on cleaned: net/http loses a page
// for one bad line of its head, which browsers read. It begins with each request, and ends with the head of the final
// response: bytes of bodies pass as they are.
type headReader struct {
	reading bool   // the head is not whole
	pending []byte // of it, as it came
	passed  int    // bytes of pending that net/http has: the status line, or none
	seen    int    // bytes of pending that have no end of it
	ready   []byte // for net/http
	err     error  // that comes after ready
}

// take takes what was received, and an error that came with it. It returns the head of the final response as it came
// once that is whole.
func (r *headReader) take(p []byte, err error) (final []byte) {
	r.pending, r.err = append(r.pending, p...), err
	for r.reading {
		head := bytes.TrimLeft(r.pending, "\r\n") // empty lines come before some heads
		from, end := len(r.pending)-len(head), -1
		isHTTP := bytes.HasPrefix(head, startOfHead)
		if isHTTP {
			end = headEnd(head, max(0, r.seen-from))
			if line := bytes.IndexByte(head, '\n'); r.passed == 0 && line >= 0 {
				r.pass(r.pending[from : from+line+1])
				r.passed = from + line + 1
			}
		}
		if end < 0 {
			r.reading = err == nil && len(r.pending) <= maxHead && (isHTTP || len(head) < len(startOfHead))
			r.seen = max(0, len(r.pending)-3)
			break
		}
		r.pass(cleanFields(r.pending[r.passed : from+end]))
		if r.pending, r.passed, r.seen = head[end:], 0, 0; !interim(head[:end]) {
			r.reading, final = false, head[:end]
		}
	}
	if !r.reading {
		r.pass(r.pending[r.passed:])
		r.pending = nil
	}
	return final
}

func (r *headReader) pass(p []byte) { r.ready = append(r.ready, p...) }

// headEnd returns the length of the header that ends at or behind from, -1 if it
// does not. A bare LF ends a line as well (RFC 9112 2.2).
func headEnd(b []byte, from int) int {
	crlf, lf := bytes.Index(b[from:], []byte("\n\r\n")), bytes.Index(b[from:], []byte("\n\n"))
	switch {
	case crlf < 0 && lf < 0:
		return -1
	case lf < 0 || crlf >= 0 && crlf < lf:
		return from + crlf + 3
	}
	return from + lf + 2
}

// interim reports whether a header is that of a 1xx response.
func interim(b []byte) bool {
	_, rest, _ := bytes.Cut(b, []byte(" "))
	return len(rest) > 0 && rest[0] == '1' && !bytes.HasPrefix(rest, []byte("101"))
}

// cleanFields returns the fields of a head without the lines that are none, and with spaces for control characters (RFC
// 9110 5.5). What they say of the length of the body more than once they say once. Where they say different things of
// that, they stay, for net/http to refuse.
func cleanFields(fields []byte) []byte {
	out := make([]byte, 0, len(fields)+8)
	kept, chunked, length := false, false, bytes.Contains(bytes.ToLower(fields), []byte("content-length"))
	for line := range bytes.Lines(fields) {
		text := string(bytes.TrimRight(line, "\r\n"))
		if text == "" {
			return append(out, line...) // the end
		}
		if text[0] == ' ' || text[0] == '\t' { // it continues the line before
			if kept {
				out = append(out, withSpaces(text)+"\r\n"...)
			}
			continue
		}
		name, value, colon := strings.Cut(text, ":")
		name = strings.TrimRight(name, " \t")
		if kept = colon && httpguts.ValidHeaderFieldName(name); !kept {
			continue
		}
		switch {
		case strings.EqualFold(name, "Content-Length"):
			value = once(value)
		case strings.EqualFold(name, "Transfer-Encoding"):
			value = once(strings.ToLower(value))
			again := chunked && value == "chunked" && !length
			if chunked = value == "chunked"; again {
				kept = false
				continue
			}
		default:
			value = withSpaces(value)
		}
		out = append(out, name+":"+value+"\r\n"...)
	}
	return out
}

// once returns the value of a list whose items are the same, and any other as it is.
func once(list string) string {
	items := strings.Split(list, ",")
	for i, item := range items {
		if items[i] = strings.Trim(item, " \t"); items[i] != items[0] {
			return list
		}
	}
	return items[0]
}

// withSpaces has spaces for control characters.
func withSpaces(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}
