package httpclient

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"sync"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// issuer signs certificates.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// The authority that the clients of these tests trust, and one that they do not.
var (
	authority = sync.OnceValue(newIssuer)
	stranger  = sync.OnceValue(newIssuer)
)

func newIssuer() *issuer {
	i := &issuer{}
	made := i.sign(func(c *x509.Certificate) {
		c.Subject.CommonName, c.IsCA, c.KeyUsage = "authority", true, x509.KeyUsageCertSign
	})
	i.key = made.PrivateKey.(*ecdsa.PrivateKey)
	i.cert = made.Leaf
	return i
}

// sign makes a certificate for 127.0.0.1, with some changes; a self-signed one if the issuer has no
// certificate.
func (i *issuer) sign(change func(*x509.Certificate)) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "hostile"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true,
	}
	if change != nil {
		change(c)
	}
	parent, signer := i.cert, i.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// session is a server's TLS with a certificate that is made on demand.
type session struct {
	issuer func() *issuer
	change func(*x509.Certificate)
	most   uint16 // version
	protos []string
}

// over serves inside TLS. A failed handshake ends it.
func (s session) over(serve func(*peer)) func(*peer) {
	return func(p *peer) {
		i := &issuer{}
		if s.issuer != nil {
			i = s.issuer()
		}
		secure := tls.Server(p.Conn, &tls.Config{
			Certificates: []tls.Certificate{i.sign(s.change)}, NextProtos: s.protos,
			MinVersion: tls.VersionTLS10, MaxVersion: s.most,
		})
		if err := secure.Handshake(); err != nil {
			return
		}
		inner := *p
		inner.Conn, inner.in = secure, bufio.NewReader(secure)
		serve(&inner)
	}
}

func trusted(serve func(*peer)) func(*peer) { return session{issuer: authority}.over(serve) }

// certified is a server whose only fault is its certificate.
func certified(by func() *issuer, change func(*x509.Certificate)) func(*peer) {
	return session{issuer: by, change: change}.over(holds(okHead + twoBytes))
}

func expired(c *x509.Certificate)   { c.NotAfter = time.Now().Add(-time.Minute) }
func notYet(c *x509.Certificate)    { c.NotBefore = time.Now().Add(time.Minute) }
func otherName(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.example"} }

// afterHello waits for the client to begin the handshake, and responds with text.
func afterHello(text string, then func(*peer)) func(*peer) {
	return func(p *peer) {
		if _, err := p.in.Peek(5); err == nil && p.say(text) {
			then(p)
		}
	}
}

func hangUp(p *peer) {
	_ = p.tcp.CloseWrite()
	p.wait()
}

// half is the beginning of a handshake record, which announces more data.
const half = "\x16\x03\x03\x40\x00\x02"

// hostileTLS do not reach a trusted session, or break it.
var hostileTLS = []hostile{
	{name: "TLS: silence", https: true, serve: (*peer).wait, set: shortHandshake, want: messages.TLSFailure, text: "TLS handshake was not done within 200ms"},
	{name: "TLS: silence for the whole time", https: true, serve: (*peer).wait, set: func(c *Config, a *Request) {
		c.TLSTimeout, a.Timeout = crawlspec.Duration(2*brief), brief
	}, want: messages.Timeout, text: "not done within 200ms"},
	{name: "TLS: nobody accepts", https: true, serve: nil, set: shortHandshake, want: messages.TLSFailure, text: "TLS handshake was not done within 200ms"},
	{name: "TLS: byte by byte", https: true, serve: afterHello("", func(p *peer) { p.drip(half + string(make([]byte, 1000))) }), set: shortHandshake, want: messages.TLSFailure, text: "TLS handshake was not done within 200ms"},
	{name: "TLS: plain HTTP on its port", https: true, serve: afterHello("HTTP/1.1 400 Bad Request\r\n\r\n", (*peer).wait), want: messages.TLSFailure, text: "does not speak TLS"},
	{name: "TLS: garbage", https: true, serve: afterHello("garbage, garbage", (*peer).wait), want: messages.TLSFailure, text: "does not speak TLS"},
	{name: "TLS: garbage in a record", https: true, serve: afterHello("\x16\x03\x03\x00\x05garbage", (*peer).wait), want: messages.TLSFailure, text: "TLS handshake: "},
	{name: "TLS: handshake message of 16 MiB", https: true, serve: afterHello("\x16\x03\x03\x00\x04\x02\xff\xff\xff", (*peer).wait), want: messages.TLSFailure, text: "TLS handshake: "},
	{name: "TLS: refused by an alert", https: true, serve: afterHello("\x15\x03\x03\x00\x02\x02\x28", (*peer).wait), want: messages.TLSFailure, text: "handshake failure"},
	{name: "TLS: closed before the handshake", https: true, serve: afterHello("", hangUp), want: messages.TLSFailure, text: "the server closed the connection"},
	{name: "TLS: closed midway", https: true, serve: afterHello(half, hangUp), want: messages.TLSFailure, text: "the server closed the connection"},
	{name: "TLS: reset midway", https: true, serve: afterHello(half, (*peer).reset), want: messages.TLSFailure, text: "the connection was reset"},
	{name: "TLS: version 1.0 alone", https: true, serve: session{issuer: authority, most: tls.VersionTLS10}.over((*peer).wait), want: messages.TLSFailure, text: "protocol version"},
	{name: "TLS: other name", https: true, serve: certified(authority, otherName), want: messages.TLSFailure, text: "cannot validate certificate for 127.0.0.1"},
	{name: "TLS: expired", https: true, serve: certified(authority, expired), want: messages.TLSFailure, text: "certificate has expired or is not yet valid"},
	{name: "TLS: not yet valid", https: true, serve: certified(authority, notYet), want: messages.TLSFailure, text: "certificate has expired or is not yet valid"},
	{name: "TLS: self-signed", https: true, serve: certified(nil, nil), want: messages.TLSFailure, text: "signed by unknown authority"},
	{name: "TLS: unknown authority", https: true, serve: certified(stranger, nil), want: messages.TLSFailure, text: "signed by unknown authority"},

	// Within a session.
	{name: "TLS: nobody answers", https: true, serve: trusted(holds("")), set: shortFirstByte, want: messages.Timeout, text: "no response within 200ms"},
	{name: "TLS: closed without a response", https: true, serve: trusted(says("")), want: messages.ConnectFailure, text: "without a response"},
	{name: "TLS: reset before a response", https: true, serve: trusted(resets("")), want: messages.ConnectFailure, text: "the connection was reset before a response"},
	{name: "TLS: closed in the body", https: true, serve: trusted(says(okHead + "Content-Length: 9\r\n\r\nshort")), want: messages.ProtocolError, text: "the body was cut short"},
	{name: "TLS: reset in the body", https: true, serve: trusted(resets(okHead + "Content-Length: 9\r\n\r\nshort")), want: messages.ProtocolError, text: "the connection was reset within the body"},
	{name: "TLS: plain text in the body", https: true, serve: trusted(func(p *peer) {
		if p.request() && p.say(okHead+"Content-Length: 9\r\n\r\nshort") {
			_, _ = io.WriteString(p.tcp, "and more in plain text")
			p.wait()
		}
	}), want: messages.ProtocolError, text: "the body ended with an error"},
	{name: "TLS: body stalls", https: true, serve: trusted(holds(okHead + "Content-Length: 9\r\n\r\nshort")), set: shortStall, want: messages.Stalled, text: "the body stopped coming"},
	{name: "TLS: body without end", https: true, serve: trusted(floods(okHead+"\r\n", "x")), bulk: true, want: messages.TooLarge, text: "over the limit of 2MiB"},
}
