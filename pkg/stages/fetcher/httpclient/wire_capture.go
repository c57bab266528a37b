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

func (c *wireCapture) sent(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.request)+len(p) > c.most {
		c.over = true
		return
	}
	c.request = append(c.request, p...)
}

// unsent takes back the end of what was said to be sent, which the connection did not take.
func (c *wireCapture) unsent(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request = c.request[:max(0, len(c.request)-size)]
}

// received takes the head of the final response.
func (c *wireCapture) received(head []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.response, c.done = bytes.Clone(head), true
	c.over = c.over || len(head) > c.most
}

// heads returns the request, and the head of the response; nil if they are not
// all there.
func (c *wireCapture) heads() (request, response []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || !c.done {
		return nil, nil
	}
	return c.request, c.response
}
