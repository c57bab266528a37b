package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"seine/internal/fetch/netguard"
	"seine/pkg/messages"
)

// dialer opens the connections of one pool: it resolves names, checks each address with the guard,
// and adds TLS. Its errors are failures.
type dialer struct {
	resolver    *resolver
	guard       *netguard.Guard
	net         net.Dialer // with the guard
	tls         *tls.Config
	proxy       *url.URL // nil for none
	dialTimeout time.Duration
	tlsTimeout  time.Duration
}

func newDialer(cfg Config, r *resolver, g *netguard.Guard, t *tls.Config) *dialer {
	return &dialer{
		resolver: r, guard: g, net: net.Dialer{Control: g.Control}, tls: t,
		dialTimeout: time.Duration(cfg.DialTimeout), tlsTimeout: time.Duration(cfg.TLSTimeout),
	}
}

// minAddressTimeout is the least time for one of several addresses before the next is tried.
const minAddressTimeout = 2 * time.Second

// plain is Transport.DialContext.
func (d *dialer) plain(ctx context.Context, _, address string) (net.Conn, error) {
	if d.proxy != nil && d.proxy.Scheme == "http" {
		c, err := d.toProxy(ctx)
		if err == nil {
			c.ip = "" // the IP is the proxy's
		}
		return nilConn(c, err)
	}
	return nilConn(d.open(ctx, address))
}

// nilConn keeps a nil *conn from becoming a non-nil net.Conn.
func nilConn(c *conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// open opens a connection, through the proxy if there is one.
func (d *dialer) open(ctx context.Context, address string) (*conn, error) {
	if d.proxy != nil {
		return d.tunnel(ctx, address)
	}
	return d.direct(ctx, address)
}

// secure is Transport.DialTLSContext.
func (d *dialer) secure(ctx context.Context, _, address string) (net.Conn, error) {
	c, err := d.open(ctx, address)
	if err != nil {
		return nil, err
	}
	host, _, _ := net.SplitHostPort(address) // open has parsed it before
	cfg := d.tls.Clone()
	cfg.ServerName = host
	session := tls.Client(c, cfg)
	ctx, cancel := context.WithTimeout(ctx, d.tlsTimeout)
	defer cancel()
	began := time.Now()
	if err := session.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, d.tlsFailure(err)
	}
	c.tls = time.Since(began)
	if session.ConnectionState().NegotiatedProtocol == "h2" {
		return session, nil // net/http must recognise it itself
	}
	return &conn{Conn: session, ip: c.ip, dns: c.dns, connect: c.connect, tls: c.tls}, nil
}

func (d *dialer) tlsFailure(err error) error {
	var notTLS tls.RecordHeaderError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Failf(messages.TLSFailure, "TLS handshake was not done within %s", d.tlsTimeout).in(messages.DetailTimeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Failf(messages.TLSFailure, "TLS handshake: the server closed the connection").in(messages.DetailReset)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Failf(messages.TLSFailure, "TLS handshake: the connection was reset").in(messages.DetailReset)
	case errors.As(err, &notTLS):
		return Failf(messages.TLSFailure, "TLS handshake: the server does not speak TLS on this port").in(messages.DetailNotTLS)
	case errors.As(err, &untrusted):
		return Failf(messages.TLSFailure, "TLS handshake: %v", err).in(messages.DetailCertificate)
	}
	return Failf(messages.TLSFailure, "TLS handshake: %v", err)
}

// direct opens a TCP connection to the first address that accepts it.
func (d *dialer) direct(ctx context.Context, address string) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.dialTimeout)
	defer cancel()
	began := time.Now()
	addrs, port, err := d.lookup(ctx, address)
	if err != nil {
		return nil, err
	}
	resolved := time.Now()
	c, err := d.first(ctx, addrs, port)
	if err != nil {
		return nil, err
	}
	c.dns, c.connect = resolved.Sub(began), time.Since(resolved)
	return c, nil
}

// lookup splits an address and resolves its name.
func (d *dialer) lookup(ctx context.Context, address string) ([]netip.Addr, uint16, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, 0, Failf(messages.ConnectFailure, "address %s: %v", address, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, 0, Failf(messages.ConnectFailure, "port %s: must be from 0 to 65535", portText)
	}
	addrs, err := d.resolver.resolve(ctx, host)
	if err != nil {
		return nil, 0, d.dnsFailure(ctx, err)
	}
	return addrs, uint16(port), nil
}

func (d *dialer) dnsFailure(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*Failure](err); ok || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return Failf(messages.DNSFailure, "the name of the host does not resolve: no answer within %s", d.dialTimeout).in(messages.DetailTimeout)
}

// first tries addrs in the resolver's order, that of RFC 6724. A failed address determines the
// class rather than a refused one: it may work later.
func (d *dialer) first(ctx context.Context, addrs []netip.Addr, port uint16) (*conn, error) {
	var refused, failed error
	each := max(minAddressTimeout, d.dialTimeout/time.Duration(len(addrs)))
	for _, a := range addrs {
		c, err := d.one(ctx, netip.AddrPortFrom(a, port), each)
		if err == nil {
			return c, nil
		}
		if _, ok := errors.AsType[*netguard.RefusedError](err); ok {
			refused = err
		} else if failed == nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if failed != nil {
		return nil, d.connectFailure(failed)
	}
	r, _ := errors.AsType[*netguard.RefusedError](refused)
	return nil, &Failure{Class: messages.RefusedAddress, Text: r.Error(), cause: r}
}

func (d *dialer) one(ctx context.Context, a netip.AddrPort, timeout time.Duration) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := d.net.DialContext(ctx, "tcp", a.String())
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, ip: a.Addr().String()}, nil
}

func (d *dialer) connectFailure(err error) error {
	text, detail := "", messages.Detail("")
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		text, detail = "connection refused", messages.DetailRefused
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		text, detail = fmt.Sprintf("no answer within %s", d.dialTimeout), messages.DetailTimeout
	case errors.As(err, &op):
		text = op.Err.Error()
	default:
		text = err.Error()
	}
	if errors.As(err, &op) && op.Addr != nil {
		text = op.Addr.String() + ": " + text
	}
	return Failf(messages.ConnectFailure, "connect to %s", text).in(detail)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
