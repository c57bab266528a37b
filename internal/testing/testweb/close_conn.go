package testweb

import (
	"net"
	"net/http"
)

// cut closes the client's connection, optionally with a TCP reset. Without access to the connection
// (as with a httptest.ResponseRecorder) it aborts the handler.
func cut(rw http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
