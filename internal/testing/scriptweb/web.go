package scriptweb

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// Web serves pages that show nothing without JavaScript. It is safe for concurrent use.
type Web struct {
	requestLog
	sessions

	origin, other, secure *httptest.Server
	udp                   map[string]net.PacketConn
	ended                 chan struct{} // closed before the servers wait for their answers
	connections           atomic.Int64
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
	w := &Web{ended: make(chan struct{})}
	if err := w.listenUDP(); err != nil {
		w.closeUDP()
		return nil, err
	}
	w.origin = w.server("main", nil)
	w.other = w.server("other", &w.connections)
	w.secure = w.server("secure", nil)
	w.other.Start()
	w.secure.StartTLS()
	w.origin.Start()
	return w, nil
}

// server makes a server, whose handler is made when all addresses are known: at its first request.
func (w *Web) server(name string, connections *atomic.Int64) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.add(Request{name, r.Method, r.Host, r.URL.RequestURI(), r.Header.Clone()})
		w.answer(rw, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are refused, which is what they are for
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew && connections != nil {
			connections.Add(1)
		}
	}
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

// OtherConnections is how many TCP connections the second origin was offered, with requests or without.
func (w *Web) OtherConnections() int { return int(w.connections.Load()) }

// URL makes an absolute URL of a path of a Page.
func (w *Web) URL(path string) string {
	if rest, ok := strings.CutPrefix(path, "//other/"); ok {
		return w.Other() + "/" + rest
	}
	return w.Origin() + path
}
