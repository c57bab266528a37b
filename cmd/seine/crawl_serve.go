package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/alecthomas/kong"

	"seine/internal/base/safeprint"
	"seine/internal/run/crawl"
	"seine/internal/serve"
)

// serveAt is a flag that may have an address: "" is not to serve.
type serveAt string

// IsBool lets the flag stand alone.
func (*serveAt) IsBool() bool { return true }

// Decode takes the address, if there is one.
func (s *serveAt) Decode(ctx *kong.DecodeContext) error {
	*s = serve.DefaultListen
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		*s = serveAt(ctx.Scan.Pop().String())
	}
	return nil
}

// serve begins to serve pages and the API beside the crawl, if that is asked for, until stop is called.
func (c *crawlCmd) serve(ctx context.Context, flusher *crawl.Flusher, log *slog.Logger) (stop func(), err error) {
	if c.Serve == "" {
		return func() {}, nil
	}
	s := serveCmd{Listen: string(c.Serve), AllowPrivate: c.AllowPrivate != nil && *c.AllowPrivate, Secrets: c.Secrets, Browser: c.Browser, flush: flusher.Flush}
	if s.Rate = serve.DefaultRate; c.NATS.Given() {
		s.Operator.Options = c.NATS
	} else {
		s.Data = c.Data
	}
	server, err := s.server(log, false)
	if err != nil {
		return nil, err
	}
	l, err := server.Open()
	if err != nil {
		server.close()
		return nil, usageError{err}
	}
	safeprint.Fprintf(os.Stderr, "serving at %s\n", server.URL(l))
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until the crawl has ended in order
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.run(ctx, l); err != nil {
			log.Error("pages and the API cannot be served", "error", err)
		}
	}()
	return func() { cancel(); <-ended; server.close() }, nil
}
