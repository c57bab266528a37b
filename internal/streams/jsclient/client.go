package jsclient

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Shortest and longest wait between retries of a refused operation.
const (
	MinRefusedWait = 10 * time.Millisecond
	MaxRefusedWait = time.Second
)

// DeletionTime is how long a server may still be removing the files of a stream or consumer that it
// no longer lists. One that is created meanwhile loses its files: such a stream answers no
// publisher until the server restarts (nats-server 2.15.2).
const DeletionTime = time.Second

// Client is a connection to NATS with functions that the client library lacks or implements without
// the required guarantees.
type Client struct {
	NC  *nats.Conn
	JS  jetstream.JetStream
	Log *slog.Logger
	// Prefix is the subject prefix of the JetStream API: $JS.API, or that of a domain behind a leaf
	// node or of an API that the account imports.
	Prefix string
}

// UntilReconnected returns a context that ends with ctx, or when the connection was lost and has
// been restored.
func (c *Client) UntilReconnected(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	connected := c.NC.StatusChanged(nats.CONNECTED)
	go func() {
		for range connected {
			cancel()
		}
	}()
	return ctx, func() {
		c.NC.RemoveStatusListener(connected)
		cancel()
	}
}

// answerTime limits a single request. The answer of a server that died is lost, and its client is
// not notified.
const answerTime = 5 * time.Second

// AnswerWithin returns a context for one request.
func AnswerWithin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, answerTime)
}

// MaxPayload returns the server's maximum message size in bytes; without a connection, the server's
// default.
func (c *Client) MaxPayload() int64 {
	if c.NC == nil {
		return 1 << 20
	}
	return c.NC.MaxPayload()
}
