package mcp

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainingTransport is a transport whose input ends only when all requests are answered: a script may pipe its requests and exit.
type drainingTransport struct{ sdk.Transport }

// Connect implements sdk.Transport.
func (t drainingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all
	}
	return &drainingConn{Connection: c, answered: make(chan struct{}, 1)}, nil
}

type drainingConn struct {
	sdk.Connection
	open     atomic.Int64 // requests without an answer
	answered chan struct{}
}

// lastAnswers is how long requests may take after the end of the input. One that the client cancelled gets no answer.
const lastAnswers = 2 * time.Minute

// Read implements sdk.Connection.
func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.open.Add(1)
	}
	if errors.Is(err, io.EOF) {
		within, cancel := context.WithTimeout(ctx, lastAnswers)
		defer cancel()
		for c.open.Load() > 0 && within.Err() == nil {
			select {
			case <-c.answered:
			case <-within.Done():
			}
		}
	}
	return m, err //nolint:wrapcheck // says all
}

// Write implements sdk.Connection.
func (c *drainingConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		c.open.Add(-1)
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err //nolint:wrapcheck // says all
}
