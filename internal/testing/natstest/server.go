// Package natstest starts a NATS server inside the process of a test.
package natstest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// storeLimit is what the streams may reserve in bytes. A server that is told nothing takes three quarters of the disk
// that is free, and refuses our streams on a machine that is short of it, though a test fills next to nothing of them.
const storeLimit = 1 << 40

// Options are those of a server with JetStream, that writes no log and listens nowhere: tests reach it with
// nats.InProcessServer.
func Options(t testing.TB) *server.Options {
	t.Helper()
	return &server.Options{
		JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: storeLimit, JetStreamMaxMemory: 1 << 30,
		DontListen: true, NoSigs: true, NoLog: true,
	}
}

// Listening are Options of a server that listens on a port of 127.0.0.1, too.
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
