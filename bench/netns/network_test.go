//go:build linux

package netns

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestMain becomes a command in a host, where Prepare has said so.
func TestMain(m *testing.M) {
	if err := Enter(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// pair is a network of two hosts, where that can be had.
func pair(t *testing.T) (n *Network, a, b *Host) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	n = NewNetwork(1)
	t.Cleanup(n.Close)
	a, err := n.Add("a")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err == nil {
		b, err = n.Add("b")
	}
	if err != nil {
		t.Fatal(err)
	}
	return n, a, b
}

// echo answers each line at a port of a host.
func echo(t *testing.T, h *Host, port int) {
	t.Helper()
	l, err := h.Listen(port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = bufio.NewReader(c).WriteTo(c)
			}()
		}
	}()
}

// dial connects from one host to another.
func dial(t *testing.T, from, to *Host, port int) net.Conn {
	t.Helper()
	var c net.Conn
	err := from.within(func() (err error) {
		c, err = net.DialTimeout("tcp4", to.At(port), 10*time.Second)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// roundTrip sends a line, and returns how long the answer took.
func roundTrip(t *testing.T, c net.Conn, within time.Duration) (time.Duration, error) {
	t.Helper()
	began := time.Now()
	_ = c.SetDeadline(began.Add(within))
	if _, err := c.Write([]byte("x\n")); err != nil {
		t.Fatal(err)
	}
	_, err := c.Read(make([]byte, 2))
	return time.Since(began), err
}

const patience = 20 * time.Second

func TestHostsReachEachOtherAsTheirLinksAllow(t *testing.T) {
	n, a, b := pair(t)
	echo(t, b, 4222)
	c := dial(t, a, b, 4222)
	if _, err := roundTrip(t, c, patience); err != nil {
		t.Fatal(err)
	}
	n.SetBoth(a, b, Condition{Delay: 50 * time.Millisecond})
	if took, err := roundTrip(t, c, patience); err != nil || took < 100*time.Millisecond {
		t.Errorf("%v, %v: want both delays", took, err)
	}
	n.Set(b, a, Condition{Cut: true})
	if _, err := roundTrip(t, c, 200*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("across a link that is cut: %v", err)
	}
	n.SetBoth(a, b, Condition{})
	if _, err := roundTrip(t, c, patience); err != nil { // the network's own repeats
		t.Errorf("when the link is there again: %v", err)
	}
	if packets, bytes := n.Carried(); packets == 0 || bytes == 0 {
		t.Error("nothing was counted")
	}
}

func TestNewMachineKnowsNothingOfTheConnectionsOfTheOldOne(t *testing.T) {
	n, a, b := pair(t)
	echo(t, b, 4222)
	c := dial(t, a, b, 4222)
	if _, err := roundTrip(t, c, patience); err != nil {
		t.Fatal(err)
	}
	if err := n.Renew(b); err != nil {
		t.Fatal(err)
	}
	if _, err := roundTrip(t, c, patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection was not refused: %v", err)
	}
	echo(t, b, 4222)
	if _, err := roundTrip(t, dial(t, a, b, 4222), patience); err != nil {
		t.Error(err)
	}
}

func TestCommandRunsInItsHost(t *testing.T) {
	_, a, b := pair(t)
	echo(t, b, 4222)
	cmd := exec.Command("/bin/sh", "-c", "readlink /proc/self/ns/net")
	a.Prepare(cmd)
	inside, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if outside, err := os.Readlink("/proc/self/ns/net"); err != nil || string(inside) == outside+"\n" {
		t.Errorf("the command is in the namespace of this process: %s %v", inside, err)
	}
}
