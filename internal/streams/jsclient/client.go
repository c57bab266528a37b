package jsclient

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Waits between attempts at what was refused, the first and the longest.
const (
	MinRefusedWait = 10 * time.Millisecond
	MaxRefusedWait = time.Second
)

// DeletionTime is how long a server may still remove the files of a stream or consumer that it lists no longer. One that is created
// meanwhile loses its own: such a stream answers no publisher until the server restarts (nats-server 2.15.2).
const DeletionTime = time.Second

// Client is a connection to NATS, with what the client library does not do, or not as it must
// be done here.
type Client struct {
	NC  *nats.Conn
	JS  jetstream.JetStream
	Log *slog.Logger
	// Prefix is that of the subjects of JetStream's API, $JS.API, or that of a domain
	// behind a leaf node, or of an API that the account imports.
	Prefix string
}

// UntilReconnected returns a context that ends with ctx, or when the connection
// was lost and is back.
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

// answerTime bounds a request of something that may take longer: the answer of a
// server that died is lost, and its client is not told.
const answerTime = 5 * time.Second

// AnswerWithin returns a context for one request.
func AnswerWithin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, answerTime)
}

// MaxPayload is how many bytes a message may have on the server; without a connection, the server's default.
func (c *Client) MaxPayload() int64 {
	if c.NC == nil {
		return 1 << 20
	}
	return c.NC.MaxPayload()
}
