package scriptweb

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seine/internal/testing/testweb"
)

// Web serves pages that show nothing without JavaScript. It is safe for concurrent use.
type Web struct {
	*testweb.Log // of all servers; packets by UDP have the method UDP
	sessions

	origin, other, secure *httptest.Server
	udp                   map[string]net.PacketConn
	ended                 chan struct{} // closed before the servers wait for their answers
}

// Start starts the servers of a web. They end with the test, and all answers that hang with them.
func Start(t testing.TB) *Web {
	t.Helper()
	w, err := Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// Serve starts the servers of a web that is there until Close. It panics if no port of the loopback interface is free.
func Serve() (*Web, error) {
	w := &Web{Log: testweb.NewLog(0), ended: make(chan struct{})}
	if err := w.listenUDP(); err != nil {
		w.closeUDP()
		return nil, err
	}
	w.origin, w.other, w.secure = w.server(), w.server(), w.server()
	w.other.Start()
	w.secure.StartTLS()
	w.origin.Start()
	return w, nil
}

// server makes a server, whose handler is made when all addresses are known: at its first request.
func (w *Web) server() *httptest.Server {
	s := httptest.NewUnstartedServer(w.Handler(http.HandlerFunc(w.answer), nil))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are refused, which is what they are for
	return s
}

// Close ends the servers, and all answers that hang.
func (w *Web) Close() {
	close(w.ended)
	w.closeUDP()
	for _, s := range []*httptest.Server{w.origin, w.other, w.secure} {
		s.CloseClientConnections()
		s.Close()
	}
}

// Origin is the main origin, such as "http://127.0.0.1:1234".
func (w *Web) Origin() string { return w.origin.URL }

// Other is the second origin: another port of the same address.
func (w *Web) Other() string { return w.other.URL }

// Elsewhere is the second origin by another name, "localhost", which makes it another site: its frames have a process of
// their own.
func (w *Web) Elsewhere() string { return strings.Replace(w.other.URL, "127.0.0.1", "localhost", 1) }

// Secure is an origin of HTTPS whose certificate is signed by nobody.
func (w *Web) Secure() string { return w.secure.URL }

// URL makes an absolute URL of a path of a Page.
func (w *Web) URL(path string) string {
	if rest, ok := strings.CutPrefix(path, "//other/"); ok {
		return w.Other() + "/" + rest
	}
	return w.Origin() + path
}

// CountRequests is how often a path was asked for, of any server: with the very query, if the path has one, else with any.
func (w *Web) CountRequests(path string) int {
	return len(w.Select(func(r *testweb.Request) bool {
		name, _, _ := strings.Cut(r.Path, "?")
		return r.Path == path || name == path
	}))
}
