package httpclient

import (
	"bytes"
	"sync"
)

// wireCapture is an exchange of HTTP/1.1 in its wire form: the request, and the response up to its
// body. net/http itself loses the order and the spelling of header fields.
type wireCapture struct {
	mu       sync.Mutex
	request  []byte
	response []byte
	done     bool // the head of the response is complete
	over     bool // the exchange exceeds most
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

// unsent removes the end of the recorded data that the connection did not accept.
func (c *wireCapture) unsent(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request = c.request[:max(0, len(c.request)-size)]
}

// received records the head of the final response.
func (c *wireCapture) received(head []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.response, c.done = bytes.Clone(head), true
	c.over = c.over || len(head) > c.most
}

// heads returns the request, and the head of the response; nil if they are incomplete.
func (c *wireCapture) heads() (request, response []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || !c.done {
		return nil, nil
	}
	return c.request, c.response
}
