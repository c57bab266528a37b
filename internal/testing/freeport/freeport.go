// Package freeport finds ports for servers that tests start as processes.
package freeport

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"seine/internal/base/filelock"
)

// Ports below those that the system gives to connections, and to a listener that asks for any.
const lowest, highest = 12_000, 32_000

// tries is how many ports Get looks at.
const tries = 1000

// Addr returns an address of 127.0.0.1 with a port of Get.
func Addr(t testing.TB) string {
	t.Helper()
	return loopback(Get(t))
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Get returns a port of 127.0.0.1 that nothing else takes before the test ends: it is one that the system gives to
// nobody, and a lock keeps the other tests of the machine off, those of other processes too.
func Get(t testing.TB) int {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "seine-test-ports")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range tries {
		port := lowest + (os.Getpid()*10+i)%(highest-lowest) // processes begin at different ones
		lock, err := filelock.Take(filepath.Join(dir, strconv.Itoa(port)))
		if errors.Is(err, filelock.ErrTaken) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if isFree(loopback(port)) {
			t.Cleanup(func() { _ = lock.Close() })
			return port
		}
		_ = lock.Close()
	}
	t.Fatalf("none of %d ports is free", tries)
	return 0
}

func isFree(addr string) bool {
	l, err := net.Listen("tcp", addr)
	return err == nil && l.Close() == nil
}
