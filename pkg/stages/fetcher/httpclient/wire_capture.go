package httpclient

import (
	"bytes"
	"sync"
)

// wireCapture are an exchange of HTTP/1.1 as it went over its connection: the request,
// and the response up to its body. net/http itself forgets the order and the
// spelling of header fields.
type wireCapture struct {
	mu       sync.Mutex
	request  []byte
	response []byte
	done     bool // the head of the response is whole
	over     bool // more than there is room for
	most     int
}

func (n *wireCapture) sent(p []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.request)+len(p) > n.most {
		n.over = true
		return
	}
	n.request = append(n.request, p...)
}

// unsent takes back the end of what was said to be sent, which the connection did not take.
func (n *wireCapture) unsent(size int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.request = n.request[:max(0, len(n.request)-size)]
}

// received takes bytes until the head of the final response is whole. The ones
// of 1xx responses before it are dropped.
func (n *wireCapture) received(p []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done || n.over {
		return
	}
	n.response = append(n.response, p...)
	for seen := max(0, len(n.response)-len(p)-3); ; seen = 0 {
		end := headEnd(n.response, seen)
		switch {
		case end < 0:
			n.over = len(n.response) > n.most
			return
		case end > n.most:
			n.over = true
			return
		case !interim(n.response[:end]):
			n.response, n.done = n.response[:end], true
			return
		}
		n.response = n.response[end:]
	}
}

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

// heads returns the request, and the head of the response; nil if they are not
// all there.
func (n *wireCapture) heads() (request, response []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over || !n.done {
		return nil, nil
	}
	return n.request, n.response
}
