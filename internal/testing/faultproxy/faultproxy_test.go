package faultproxy

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// echo starts a server that echoes its input.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	return l.Addr().String()
}

func linkTo(t *testing.T, target string) *Proxy {
	t.Helper()
	k, err := New(target)
	check(t, err)
	t.Cleanup(k.Close)
	return k
}

func dial(t *testing.T, k *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", k.Addr())
	check(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// say sends a byte and waits for the echo.
func say(c net.Conn, within time.Duration) error {
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	return hear(c, within)
}

func hear(c net.Conn, within time.Duration) error {
	_ = c.SetReadDeadline(time.Now().Add(within))
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

const (
	soon  = 50 * time.Millisecond // in this time nothing must arrive
	later = 20 * time.Second      // by this time it must have arrived
)

func TestLinkHoldsBackAndHeals(t *testing.T) {
	for name, breakIt := range map[string]func(*Proxy){"blackhole": (*Proxy).Blackhole, "half open": (*Proxy).DropResponses} {
		t.Run(name, func(t *testing.T) {
			k := linkTo(t, echo(t))
			c := dial(t, k)
			check(t, say(c, later))
			breakIt(k)
			if err := say(c, soon); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("through what lets nothing pass: %v", err)
			}
			k.Restore()
			if err := hear(c, later); err != nil {
				t.Errorf("what was held back does not come: %v", err)
			}
		})
	}
}

func TestLinkResetsAndRefuses(t *testing.T) {
	k := linkTo(t, echo(t))
	c := dial(t, k)
	check(t, say(c, later))
	k.Reset()
	if err := hear(c, later); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("after a reset: %v", err)
	}
	check(t, say(dial(t, k), later)) // new connections pass
	k.Cut()
	if c, err := net.Dial("tcp", k.Addr()); err == nil && say(c, later) == nil { // the reset may come before Dial returns
		t.Error("a link that is cut takes connections")
	}
	k.Restore()
	check(t, say(dial(t, k), later))
}

func TestLinkDelays(t *testing.T) {
	k := linkTo(t, echo(t))
	c := dial(t, k)
	check(t, say(c, later))
	k.Delay(30 * time.Millisecond)
	began := time.Now()
	check(t, say(c, later))
	if took := time.Since(began); took < 60*time.Millisecond {
		t.Errorf("there and back in %v, with 30 ms each way", took)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
