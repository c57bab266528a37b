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

// The range is below the ephemeral ports that the system assigns to connections and to listeners on
// port 0.
const lowest, highest = 12_000, 32_000

// tries is the number of ports that Get tries.
const tries = 1000

// Addr returns an address of 127.0.0.1 with a port from Get.
func Addr(t testing.TB) string {
	t.Helper()
	return loopback(Get(t))
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Get returns a port of 127.0.0.1 that stays free for the caller until the end of the test. The
// system does not assign ports of this range, and a lock file keeps off other tests of the machine,
// including those of other processes.
func Get(t testing.TB) int {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "seine-test-ports")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range tries {
		port := lowest + (os.Getpid()*10+i)%(highest-lowest) // processes begin at different ports
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
