package httpclient

import (
	"io"
	"net"
	"testing"
)

// hasty is a connection whose response is read before Write returns. It accepts takes bytes of a
// request.
type hasty struct {
	net.Conn
	takes    int
	answered func()
}

func (h *hasty) Write(p []byte) (int, error) {
	h.answered()
	if h.takes < len(p) {
		return h.takes, io.ErrShortWrite
	}
	return len(p), nil
}

// The request is recorded before its response, however soon that arrives, and only the part that
// was sent.
func TestRequestIsNotedBeforeItsAnswer(t *testing.T) {
	const request, answer = "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"
	notes := &wireCapture{most: 1 << 10}
	h := &hasty{takes: len(request)}
	h.answered = func() {
		notes.received([]byte(answer))
		if sent, head := notes.heads(); string(sent) != request || string(head) != answer {
			t.Errorf("sent %q, answered %q", sent, head)
		}
	}
	c := &conn{Conn: h}
	c.notes.Store(notes)
	if _, err := c.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}

	h.takes, h.answered = 3, func() {}
	if n, err := c.Write([]byte("more")); n != 3 || err == nil {
		t.Fatalf("wrote %d: %v", n, err)
	}
	if sent, _ := notes.heads(); string(sent) != request+"mor" {
		t.Errorf("sent %q", sent)
	}
}
