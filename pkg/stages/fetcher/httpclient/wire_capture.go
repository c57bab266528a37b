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
	done     bool // the head of the response is there
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

// received takes the head of the final response.
func (n *wireCapture) received(head []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.response, n.done = bytes.Clone(head), true
	n.over = n.over || len(head) > n.most
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
