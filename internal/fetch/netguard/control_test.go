package netguard

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
)

func TestControlArguments(t *testing.T) {
	tests := []struct {
		network, address string
		pass             bool
	}{
		{"tcp4", "93.184.216.34:443", true},
		{"tcp6", "[2606:4700::1111]:443", true},
		{"tcp6", "[fe80::1%eth0]:80", false},
		{"tcp6", "[::ffff:127.0.0.1]:80", false},
		{"tcp4", ":80", false},
		{"tcp4", "example.com:80", false},
		{"tcp", "93.184.216.34:443", false},
		{"udp4", "93.184.216.34:443", false},
		{"unix", "/run/docker.sock", false},
	}
	g := New(nil, false)
	for _, tt := range tests {
		if err := g.Control(tt.network, tt.address, nil); (err == nil) != tt.pass {
			t.Errorf("Control(%s, %s) = %v, want pass %v", tt.network, tt.address, err, tt.pass)
		}
	}
	if err := g.Control("udp4", "93.184.216.34:53", nil); !errors.Is(err, ErrNetwork) {
		t.Errorf("udp4: %v, want ErrNetwork", err)
	}
}

// TestDialer dials a real listener by every spelling of this host.
func TestDialer(t *testing.T) {
	ln := listen(t)
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "", "::ffff:127.0.0.1"} {
		t.Run("refused "+host, func(t *testing.T) {
			wantRefused(t, New(nil, false), net.JoinHostPort(host, port))
		})
	}
	t.Run("allowPrivate", func(t *testing.T) { wantConnected(t, New(nil, true), ln) })
	t.Run("allowed CIDR", func(t *testing.T) {
		wantConnected(t, New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, false), ln)
	})
}

func TestDialerReturnsTypedError(t *testing.T) {
	d := net.Dialer{Control: New(nil, false).Control}
	_, err := d.DialContext(t.Context(), "tcp", listen(t).Addr().String())
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Range.Name != "loopback" {
		t.Fatalf("dial: %v, want *RefusedError for loopback", err)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

func wantRefused(t *testing.T, g *Guard, address string) {
	t.Helper()
	d := net.Dialer{Control: g.Control}
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = conn.Close()
		t.Fatalf("dial %s connected, want refusal", address)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("dial %s reached the kernel: %v", address, err)
	}
}

func wantConnected(t *testing.T, g *Guard, ln net.Listener) {
	t.Helper()
	d := net.Dialer{Control: g.Control}
	conn, err := d.DialContext(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
