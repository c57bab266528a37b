package httpclient

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	socks "golang.org/x/net/proxy"

	"seine/internal/fetch/netguard"
	"seine/pkg/messages"
)

// tunnel opens a connection to address through the proxy.
func (d *dialer) tunnel(ctx context.Context, address string) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.dialTimeout)
	defer cancel()
	if d.proxy.Scheme == "http" {
		return d.connectThrough(ctx, address)
	}
	return d.socks(ctx, address)
}

// toProxy opens a connection to the proxy itself.
func (d *dialer) toProxy(ctx context.Context) (*conn, error) {
	c, err := d.direct(ctx, d.proxy.Host)
	if err == nil {
		return c, nil
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return nil, err // ctx is done
	}
	if f.Class == messages.RefusedAddress {
		return nil, Failf(messages.Misconfigured, "proxy %s: %s", d.proxy.Host, f.Text)
	}
	return nil, (&Failure{Class: messages.ProxyFailure, Text: "proxy " + d.proxy.Host + ": " + f.Text}).in(f.Detail)
}

// maxConnectHeader bounds a proxy's response to CONNECT.
const maxConnectHeader = 64 << 10

// connectThrough asks an HTTP proxy for a tunnel, RFC 9110 9.3.6.
func (d *dialer) connectThrough(ctx context.Context, address string) (*conn, error) {
	c, err := d.toProxy(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err = d.askTunnel(c, address)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	if !stop() {
		_ = c.Close()
		return nil, Failf(messages.ProxyFailure, "proxy %s: no tunnel within %s", d.proxy.Host, d.dialTimeout).in(messages.DetailTimeout)
	}
	c.connect += time.Since(began)
	c.ip = "" // the IP is the proxy's
	return c, nil
}

func (d *dialer) askTunnel(c *conn, address string) error {
	broken := func(err error) error {
		return Failf(messages.ProxyFailure, "proxy %s: asked for a tunnel: %v", d.proxy.Host, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", address, address)
	if u := d.proxy.User; u != nil {
		fmt.Fprintf(&b, "Proxy-Authorization: %s\r\n", basic(u))
	}
	b.WriteString("\r\n")
	if _, err := c.Write([]byte(b.String())); err != nil {
		return broken(err)
	}
	// Byte by byte, since the data after the header belongs to the tunnel.
	r := bufio.NewReaderSize(&oneByte{c, maxConnectHeader}, 16)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // what follows is the tunnel
	if err != nil {
		return broken(err)
	}
	switch {
	case resp.StatusCode/100 == 2:
		return nil
	case resp.StatusCode == http.StatusProxyAuthRequired, resp.StatusCode == http.StatusForbidden, resp.StatusCode == http.StatusTooManyRequests:
		return Failf(messages.ProxyFailure, "proxy %s: answered %s to CONNECT", d.proxy.Host, resp.Status)
	}
	return Failf(messages.ConnectFailure, "proxy %s could not connect to %s: %s", d.proxy.Host, address, resp.Status)
}

func basic(u *url.Userinfo) string {
	password, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))
}

// oneByte reads single bytes, at most left of them.
type oneByte struct {
	net.Conn
	left int
}

var errLongHeader = errors.New("the header of its response is too long")

func (o *oneByte) Read(p []byte) (int, error) {
	if o.left--; o.left < 0 {
		return 0, errLongHeader
	}
	return o.Conn.Read(p[:min(1, len(p))])
}

// socks opens a connection through a SOCKS5 proxy (RFC 1928), to an address that was resolved and
// checked here.
func (d *dialer) socks(ctx context.Context, address string) (*conn, error) {
	began := time.Now()
	target, dns, err := d.target(ctx, address)
	if err != nil {
		return nil, err
	}
	var auth *socks.Auth
	if u := d.proxy.User; u != nil {
		password, _ := u.Password()
		auth = &socks.Auth{User: u.Username(), Password: password}
	}
	to := &viaProxy{d: d}
	s, err := socks.SOCKS5("tcp", d.proxy.Host, auth, to)
	if err != nil {
		return nil, Failf(messages.Misconfigured, "proxy %s: %v", d.proxy.Host, err)
	}
	c, err := s.(socks.ContextDialer).DialContext(ctx, "tcp", target.String())
	if err != nil {
		return nil, d.socksFailure(to, target, err)
	}
	return &conn{Conn: c, ip: target.Addr().String(), dns: dns, connect: time.Since(began) - dns}, nil
}

// viaProxy lets the SOCKS library open its connection to the proxy.
type viaProxy struct {
	d    *dialer
	conn *conn
}

func (v *viaProxy) Dial(network, address string) (net.Conn, error) {
	return v.DialContext(context.Background(), network, address)
}

func (v *viaProxy) DialContext(ctx context.Context, _, _ string) (c net.Conn, err error) {
	if v.conn, err = v.d.toProxy(ctx); err != nil {
		return nil, err
	}
	return v.conn.Conn, nil
}

// socksFailure classifies an error of the SOCKS library, whose errors are only texts, as one of the
// proxy or of the host.
func (d *dialer) socksFailure(to *viaProxy, target netip.AddrPort, err error) error {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	for _, refusal := range []string{"host unreachable", "network unreachable", "connection refused", "TTL expired"} {
		if strings.Contains(text, refusal) {
			return Failf(messages.ConnectFailure, "proxy %s could not connect to %s: %s", d.proxy.Host, target, refusal)
		}
	}
	if to.conn != nil && errors.Is(err, context.DeadlineExceeded) {
		return Failf(messages.ProxyFailure, "proxy %s: no connection to %s within %s", d.proxy.Host, target, d.dialTimeout).in(messages.DetailTimeout)
	}
	return Failf(messages.ProxyFailure, "proxy %s: asked for %s: %s", d.proxy.Host, target, text)
}

// target resolves an address that a proxy dials, and refuses it as if it were dialled here.
func (d *dialer) target(ctx context.Context, address string) (netip.AddrPort, time.Duration, error) {
	began := time.Now()
	addrs, port, err := d.lookup(ctx, address)
	if err != nil {
		return netip.AddrPort{}, 0, err
	}
	var refused *netguard.RefusedError
	for _, a := range addrs {
		if err := d.guard.Check(a); err == nil {
			return netip.AddrPortFrom(a, port), time.Since(began), nil
		} else if refused == nil {
			refused, _ = errors.AsType[*netguard.RefusedError](err)
		}
	}
	return netip.AddrPort{}, 0, &Failure{Class: messages.RefusedAddress, Text: refused.Error()}
}

// checkTarget refuses a target that an HTTP proxy, which receives the name, must not dial. If only
// the proxy can resolve a name, the proxy must guard its own network.
func (d *dialer) checkTarget(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, d.dialTimeout)
	defer cancel()
	_, _, err := d.target(ctx, address)
	if f, ok := errors.AsType[*Failure](err); ok && f.Class == messages.DNSFailure {
		return nil
	}
	return err
}
