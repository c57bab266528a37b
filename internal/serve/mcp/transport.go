package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"seine/internal/base/jsontext"
)

// drainingTransport is a transport whose input ends only when all requests have a response, so that
// a script can pipe its requests and exit.
type drainingTransport struct{ sdk.Transport }

// Connect implements sdk.Transport.
func (t drainingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: c, answered: make(chan struct{}, 1)}, nil
}

type drainingConn struct {
	sdk.Connection
	open     atomic.Int64 // requests without a response
	answered chan struct{}
}

// lastAnswers bounds the wait for responses after the end of the input. A request that the client
// cancelled gets no response.
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
	return m, err
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
	return err
}

// messageReader reads messages from the lines of a client. It replies to invalid lines itself,
// because the library would end the session.
type messageReader struct {
	io.Closer
	lines *bufio.Scanner
	out   io.Writer
	next  bytes.Buffer
}

// newTransport returns a transport that reads and writes one message per line.
func newTransport(in io.ReadCloser, out io.WriteCloser) sdk.Transport {
	shared := &lockedWriter{WriteCloser: out}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, sdk.DefaultMaxLineLength)
	return drainingTransport{&sdk.IOTransport{Reader: &messageReader{Closer: in, lines: lines, out: shared}, Writer: shared}}
}

// Read implements io.Reader.
func (r *messageReader) Read(p []byte) (int, error) {
	for r.next.Len() == 0 {
		if !r.lines.Scan() {
			return 0, cmp.Or(r.lines.Err(), io.EOF)
		}
		line := bytes.TrimSpace(r.lines.Bytes())
		var batch []json.RawMessage
		if jsontext.Unmarshal(line, &batch) != nil || len(batch) == 0 {
			batch = []json.RawMessage{line}
		}
		for _, m := range batch {
			if err := r.take(m); err != nil {
				return 0, err
			}
		}
	}
	return r.next.Read(p)
}

// take passes on a message.
func (r *messageReader) take(m []byte) error {
	_, err := jsonrpc.DecodeMessage(m)
	switch {
	case len(m) == 0:
		return nil
	case err == nil:
		r.next.Write(m)
		return r.next.WriteByte('\n')
	}
	code, text := jsonrpc.CodeInvalidRequest, err.Error()
	if !json.Valid(m) {
		code, text = jsonrpc.CodeParseError, "the line is not JSON: send one JSON-RPC message a line"
	}
	_, err = fmt.Fprintf(r.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`+"\n", code, jsontext.AppendString(nil, text))
	return err // the client no longer reads
}

// lockedWriter serializes the writes of messages.
type lockedWriter struct {
	io.WriteCloser
	mu sync.Mutex
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(p)
}
