package httpclient

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"seine/pkg/messages"
)

// badHeads are heads of a response with bad lines, without their framing.
var badHeads = []string{
	"HTTP/1.1 200 OK\r\nX\u2010Name: x\r\nContent-Type: text/html\r\n",
	"\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Name: a\x00b\x01\x7f\r\n",
	"HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
	"HTTP/1.1 103 Early Hints\r\nno colon\r\n\r\nHTTP/1.1 200 OK\r\nno colon\r\n of it\r\nContent-Type: text/html\r\n",
	"HTTP/1.1 200 OK\nContent-Type: text/html\n\x00: x\n",
	"HTTP/1.1 200 OK\r\r\nX: a\r\r\nContent-Type: text/html\r\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity\r\nContent-Type: text/html\r\n",
	"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Name : a\r\nX Name: b\r\n: c\r\n",
}

// badBody looks like the heads: none of its bytes may change.
const badBody = "\r\n\r\nHTTP/1.1 200 OK\r\nno colon\r\nX\u2010Name: x\x00\r\n\r\n"

// TestBadHeads_KeepAlive_PagesRead: on one connection, with TLS and without, successive responses
// have bad heads, with any framing and in pieces of any size. Each page is read, and archived as
// received.
func TestBadHeads_KeepAlive_PagesRead(t *testing.T) {
	t.Parallel()
	framings := []string{
		"Content-Length: LENGTH, LENGTH\r\n\r\nBODY", "Content-Length: LENGTH\r\nContent-Length: LENGTH\r\n\r\nBODY",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\nSIZE\r\nBODY\r\n0\r\n\r\n", "Transfer-Encoding: chunked,\r\r\n\r\r\nSIZE\r\nBODY\r\n0\r\n\r\n", "Transfer-Encoding: chunked, chunked\r\n\r\nSIZE\r\nBODY\r\n0\r\n\r\n",
	}
	var replies []string
	for _, head := range badHeads {
		for _, framing := range framings {
			framed := strings.NewReplacer("LENGTH", strconv.Itoa(len(badBody)), "SIZE", fmt.Sprintf("%x", len(badBody)), "BODY", badBody).Replace(framing)
			replies = append(replies, head+framed)
		}
	}
	for _, secure := range []bool{false, true} {
		for _, size := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("TLS %v in pieces of %d", secure, size), func(t *testing.T) {
				t.Parallel()
				var connections atomic.Int32
				srv := httptest.NewUnstartedServer(keptAlive(replies, size, &connections))
				s := newClientFixture(t)
				if secure {
					srv.StartTLS()
					s.pools.tls.RootCAs = x509.NewCertPool()
					s.pools.tls.RootCAs.AddCert(srv.Certificate())
				} else {
					srv.Start()
				}
				t.Cleanup(srv.Close)
				for _, reply := range replies {
					a := s.request(srv.URL + "/")
					a.Archive = true
					r, err := s.Do(t.Context(), a)
					if err != nil {
						t.Fatal(err)
					}
					r.wants(t, messages.OK)
					if string(r.Body.Data) != badBody {
						t.Errorf("%q: body %q", reply, r.Body.Data)
					}
					before, _, _ := strings.Cut(reply, badBody)
					before = strings.TrimSuffix(before, fmt.Sprintf("%x\r\n", len(badBody)))
					if final := before[max(0, strings.Index(before, "\n\r\nHTTP")+3):]; !strings.HasSuffix(before, string(r.Head)) || len(r.Head) < len(strings.TrimLeft(final, "\r\n")) {
						t.Errorf("%q: archived head %q", reply, r.Head)
					}
					r.Release()
				}
				if n := connections.Load(); n != 1 {
					t.Errorf("%d connections, want 1", n)
				}
			})
		}
	}
}

// keptAlive answers each request of a connection with the next reply.
func keptAlive(replies []string, size int, connections *atomic.Int32) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connections.Add(1)
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		for _, reply := range replies {
			for rest := reply; rest != ""; {
				n := min(size, len(rest))
				if _, err := c.Write([]byte(rest[:n])); err != nil {
					return
				}
				rest = rest[n:]
			}
			if _, err := http.ReadRequest(rw.Reader); err != nil {
				return
			}
		}
	})
}

// TestBadHeads_Smuggling_Refused: fields that may hide the end of a body are refused as before.
func TestBadHeads_Smuggling_Refused(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{
		"Content-Length: 2, 3", "Content-Length: 2\r\nContent-Length: 3", "Content-Length: 2, 2\r\nContent-Length: 3, 3", "Content-Length: 2,", "Content-Length: 2\x00",
		"Content-Length: 2\r\n 3", "Content-Length: +2, +2", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nContent-Length: 2",
		"Transfer-Encoding: chunked, gzip", "Transfer-Encoding: gzip, chunked, chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", "Transfer-Encoding: chun\x00ked",
	} {
		t.Run(fmt.Sprintf("%q", fields), func(t *testing.T) {
			t.Parallel()
			var connections atomic.Int32
			srv := httptest.NewServer(keptAlive([]string{"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nno colon\r\n" + fields + "\r\n\r\n2\r\nok\r\n0\r\n\r\n"}, 1<<20, &connections))
			defer srv.Close()
			newClientFixture(t).get(srv.URL+"/").wants(t, messages.ProtocolError)
		})
	}
}
