package pageproxy

import (
	"bufio"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
)

// echoSocket is a WebSocket server that sends a short text message back, RFC 6455.
func echoSocket(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusHTTPVersionNotSupported)
		return
	}
	defer conn.Close()
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "+
		base64.StdEncoding.EncodeToString(sum[:])+"\r\n\r\n")
	for {
		message, err := readMessage(rw.Reader)
		if err != nil {
			return
		}
		_, _ = conn.Write(append([]byte{0x81, byte(len(message))}, message...))
	}
}

// readMessage reads a masked frame of less than 126 bytes.
func readMessage(r *bufio.Reader) ([]byte, error) {
	var head [6]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	if head[0] != 0x81 {
		return nil, errors.New("no text")
	}
	message := make([]byte, head[1]&0x7f)
	_, err := io.ReadFull(r, message)
	for i := range message {
		message[i] ^= head[2+i%4]
	}
	return message, err
}

// openSocket opens a WebSocket as Chromium does: in a tunnel, also without TLS.
func (f *fixture) openSocket(scheme string) (net.Conn, *bufio.Reader) {
	f.t.Helper()
	authority := map[string]string{"ws": "example.com:80", "wss": "example.com:443"}[scheme]
	c, r := f.tunnel(authority)
	if scheme == "wss" {
		c = tls.Client(c, trusting(f.identity, "example.com"))
		r = bufio.NewReader(c)
	}
	f.say(c, "GET /socket HTTP/1.1\r\nHost: example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
	res := f.response(r)
	if res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		f.t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	return c, r
}

// echo sends a message of five letters, with a mask of zeros, and expects it back.
func (f *fixture) echo(c net.Conn, r *bufio.Reader) error {
	f.say(c, "\x81\x85\x00\x00\x00\x00hello")
	frame := make([]byte, 7)
	if _, err := io.ReadFull(r, frame); err != nil {
		return err
	}
	if string(frame) != "\x81\x05hello" {
		return errors.New("got " + string(frame))
	}
	return nil
}

func TestWebSocketPassesAndIsCounted(t *testing.T) {
	for scheme, url := range map[string]string{"ws": "http://example.com/socket", "wss": "https://example.com/socket"} {
		t.Run(scheme, func(t *testing.T) {
			f := newFixture(t, echoSocket)
			f.begin(Visit{})
			c, r := f.openSocket(scheme)
			for range 3 {
				if err := f.echo(c, r); err != nil {
					t.Fatal(err)
				}
			}
			if got := f.End(); got.Requests != 1 || got.Bytes != 3*(11+7) || got.Failed != 0 {
				t.Errorf("%+v", got)
			}
			if x := f.recorded(); x.URL != url || x.Status != 101 || x.Err != nil || len(x.Body) != 0 {
				t.Errorf("%+v", x)
			}
			if _, err := r.ReadByte(); err == nil {
				t.Error("the socket is open after the visit")
			}
		})
	}
}

func TestWebSocketHasTheLimitOfBytes(t *testing.T) {
	f := newFixture(t, echoSocket)
	f.begin(Visit{MaxBytes: 20})
	c, r := f.openSocket("wss")
	if err := f.echo(c, r); err != nil {
		t.Fatal(err)
	}
	if err := f.echo(c, r); err == nil {
		t.Error("the second message passes")
	}
	if got := f.End(); got.Bytes != 20 || got.Refusals != 1 {
		t.Errorf("%+v", got)
	}
	if x := f.recorded(); x.Err == nil {
		t.Errorf("%+v", x)
	}
}

// TestWebSocketsTakeNoSlots opens more WebSockets than requests may be in progress.
func TestWebSocketsTakeNoSlots(t *testing.T) {
	f := newFixture(t, echoSocket)
	f.begin(Visit{PerHost: 1})
	for range 3 {
		c, r := f.openSocket("ws")
		if err := f.echo(c, r); err != nil {
			t.Fatal(err)
		}
	}
}
