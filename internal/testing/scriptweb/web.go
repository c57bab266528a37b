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
	*testweb.Log // of all servers; UDP packets have the method UDP
	sessions

	origin, other, secure *httptest.Server
	udp                   map[string]net.PacketConn
	ended                 chan struct{} // closed before the servers wait for their handlers
}

// Start starts the servers of a Web. At the end of the test they are closed, including hanging
// responses.
func Start(t testing.TB) *Web {
	t.Helper()
	w, err := Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// Serve starts the servers of a Web, which run until Close. It panics if no port of the loopback
// interface is free.
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

// server returns a server whose handler runs only after all addresses are known.
func (w *Web) server() *httptest.Server {
	s := httptest.NewUnstartedServer(w.Handler(http.HandlerFunc(w.answer), nil))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // hides expected handshake errors
	return s
}

// Close closes the servers and ends hanging responses.
func (w *Web) Close() {
	close(w.ended)
	w.closeUDP()
	for _, s := range []*httptest.Server{w.origin, w.other, w.secure} {
		s.CloseClientConnections()
		s.Close()
	}
}

// Origin returns the main origin, such as "http://127.0.0.1:1234".
func (w *Web) Origin() string { return w.origin.URL }

// Other returns the second origin: another port of the same address.
func (w *Web) Other() string { return w.other.URL }

// Elsewhere returns the second origin under the name "localhost", which makes it another site: its
// frames run in another process.
func (w *Web) Elsewhere() string { return strings.Replace(w.other.URL, "127.0.0.1", "localhost", 1) }

// Secure returns an HTTPS origin with an untrusted certificate.
func (w *Web) Secure() string { return w.secure.URL }

// URL returns the absolute URL of a path in a Page.
func (w *Web) URL(path string) string {
	if rest, ok := strings.CutPrefix(path, "//other/"); ok {
		return w.Other() + "/" + rest
	}
	return w.Origin() + path
}

// CountRequests returns the number of requests for a path on all servers. A path without a query
// matches requests with any query.
func (w *Web) CountRequests(path string) int {
	return len(w.Select(func(r *testweb.Request) bool {
		name, _, _ := strings.Cut(r.Path, "?")
		return r.Path == path || name == path
	}))
}
