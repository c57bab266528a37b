// Package natstest starts a NATS server inside the process of a test.
package natstest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// storeLimit is the storage in bytes that streams may reserve. By default a server takes three
// quarters of the free disk space, and refuses Seine's streams if a machine is short of it, though
// tests fill next to nothing of them.
const storeLimit = 1 << 40

// Options returns options of a server with JetStream that writes no log and does not listen. Tests
// connect with nats.InProcessServer.
func Options(t testing.TB) *server.Options {
	t.Helper()
	return &server.Options{
		JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: storeLimit, JetStreamMaxMemory: 1 << 30,
		DontListen: true, NoSigs: true, NoLog: true,
	}
}

// Listening returns Options of a server that also listens on a port of 127.0.0.1.
func Listening(t testing.TB) *server.Options {
	t.Helper()
	o := Options(t)
	o.DontListen, o.Host, o.Port = false, "127.0.0.1", server.RANDOM_PORT
	return o
}

// Start starts a server that ends with the test.
func Start(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	return s
}
