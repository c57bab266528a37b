package pageproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/weburl"
)

const (
	// tlsHandshake is the first byte of a TLS connection, RFC 8446 5.1.
	tlsHandshake = 0x16
	// maxHostname is the maximum length of a name in DNS.
	maxHostname = 253
)

// established is the response to CONNECT.
const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// tunnel is a connection that the client believes to lead to a host.
type tunnel struct {
	*connection
	scheme string // http, https
	host   string // as in a URL: without the scheme's default port
	head   []byte // data read ahead, to be read again
}

func (t *tunnel) Read(p []byte) (int, error) {
	if len(t.head) == 0 {
		return t.connection.Read(p)
	}
	n := copy(p, t.head)
	t.head = t.head[n:]
	return n, nil
}

// openTunnel answers CONNECT. It does not connect to the host: requests in the tunnel are sent like
// any other.
func (p *Proxy) openTunnel(w http.ResponseWriter, r *http.Request) {
	hostname, port, ok := splitAuthority(r.RequestURI)
	if !ok {
		answer(w, http.StatusBadRequest, "the tunnel needs a host and a port")
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		answer(w, http.StatusBadRequest, "a tunnel needs HTTP/1.1")
		return
	}
	t := &tunnel{connection: conn.(*connection)}
	if err := t.answerAndListen(buffered.Reader); err != nil {
		_ = t.Close()
		return
	}
	t.scheme = "http"
	if t.head[0] == tlsHandshake {
		t.scheme = "https"
	}
	t.host = hostInURL(t.scheme, hostname, port)
	p.tunnels.put(p.decrypted(t))
}

// answerAndListen answers CONNECT and waits for the first data of the client.
func (t *tunnel) answerAndListen(buffered *bufio.Reader) error {
	if err := t.SetDeadline(time.Now().Add(headerTimeout)); err != nil {
		return err
	}
	if _, err := t.Write([]byte(established)); err != nil {
		return err
	}
	if err := t.listen(buffered); err != nil {
		return err
	}
	return t.SetDeadline(time.Time{})
}

// listen reads the head: the data that came with CONNECT, otherwise the next data.
func (t *tunnel) listen(buffered *bufio.Reader) error {
	if n := buffered.Buffered(); n > 0 {
		head, err := buffered.Peek(n)
		t.head = append(t.head, head...)
		return err
	}
	first := make([]byte, 2048) // usually a ClientHello
	n, err := t.connection.Read(first)
	t.head = first[:n]
	if n > 0 {
		return nil
	}
	return err
}

func (p *Proxy) decrypted(t *tunnel) net.Conn {
	if t.scheme == "https" {
		return tls.Server(t, p.identity.serverTLS)
	}
	return t
}

// tunnelOf returns the tunnel of a request.
func tunnelOf(ctx context.Context) *tunnel {
	c := ctx.Value(connectionKey{})
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	t, _ := c.(*tunnel)
	return t
}

// splitAuthority splits "host:port"; the host is in lower case.
func splitAuthority(authority string) (hostname, port string, ok bool) {
	hostname, port, err := net.SplitHostPort(authority)
	if err != nil || hostname == "" || len(hostname) > maxHostname || strings.ContainsFunc(hostname, notInHost) {
		return "", "", false
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", false
	}
	return strings.ToLower(hostname), port, true
}

// notInHost reports whether a character cannot occur in a host as browsers write it.
func notInHost(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"#%/<>?@[\]^|`+"`{}", r)
}

// hostInURL omits the port if it is the scheme's default.
func hostInURL(scheme, hostname, port string) string {
	if port != weburl.DefaultPort(scheme) {
		return net.JoinHostPort(hostname, port)
	}
	if strings.Contains(hostname, ":") {
		return "[" + hostname + "]"
	}
	return hostname
}
