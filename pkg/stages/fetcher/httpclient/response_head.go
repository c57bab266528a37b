package httpclient

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"seine/internal/base/lazyregexp"
)

// maxHead is how long a head may be to be cleaned. What is longer passes as it is: net/http refuses it at Config.MaxHeader.
const maxHead = 512 << 10

var (
	startOfHead = []byte("HTTP/") // without its number
	// endOfHead is an empty line. A bare LF ends a line as well (RFC 9112 2.2), and so does CR CR LF.
	endOfHead = lazyregexp.New(`\n\r*\n`)
)

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
		empty := endOfHead().FindIndex(r.pending[r.seen:])
		if empty == nil {
			r.seen = max(0, bytes.LastIndexByte(r.pending, '\n'))
			break
		}
		head := r.pending[:r.seen+empty[1]]
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
	kept, chunked, length := false, false, bytes.Contains(bytes.ToLower(fields), []byte("content-length"))
	for line := range bytes.Lines(fields) {
		text := string(bytes.TrimRight(line, "\r\n"))
		if text == "" {
			return append(out, "\r\n"...) // the end
		}
		if text[0] == ' ' || text[0] == '\t' { // it continues the line before
			if kept {
				out = append(out, withSpaces(text)+"\r\n"...)
			}
			continue
		}
		name, value, colon := strings.Cut(text, ":")
		name = strings.TrimRight(name, " \t")
		kept = colon && httpguts.ValidHeaderFieldName(name)
		switch {
		case strings.EqualFold(name, "Content-Length"):
			value = once(value)
		case strings.EqualFold(name, "Transfer-Encoding"):
			value = once(strings.Trim(strings.ToLower(value), " \t,"))
			kept = kept && value != "identity" && (value != "chunked" || !chunked || length)
			chunked = value == "chunked"
		default:
			value = withSpaces(value)
		}
		if kept {
			out = append(out, name+":"+value+"\r\n"...)
		}
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
