package natstest

import (
	"fmt"
	"net"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"seine/internal/testing/await"
)

// Broker is a NATS server that a test can stop and restart.
type Broker struct {
	t    *testing.T
	Opts server.Options
	// Server is the current instance.
	Server *server.Server
}

// NewBroker starts a server; each edit changes its options.
func NewBroker(t *testing.T, edit ...func(*server.Options)) *Broker {
	t.Helper()
	b := &Broker{t: t, Opts: *Listening(t)}
	for _, e := range edit {
		e(&b.Opts)
	}
	b.Start()
	t.Cleanup(b.Stop)
	return b
}

// Start starts the server again, on the same port.
func (b *Broker) Start() {
	b.t.Helper()
	opts := b.Opts
	s, err := server.NewServer(&opts)
	if err != nil {
		b.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(await.Patience) {
		b.t.Fatal("server does not start")
	}
	b.Opts.Port = s.Addr().(*net.TCPAddr).Port
	b.Server = s
}

// Stop shuts the server down; its stored data is kept.
func (b *Broker) Stop() {
	b.Server.Shutdown()
	b.Server.WaitForShutdown()
}

// URL returns the client URL.
func (b *Broker) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", b.Opts.Port) }
