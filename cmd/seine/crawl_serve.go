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

// serveAt is the flag --serve, with or without an address: "" means not to serve.
type serveAt string

// IsBool allows the flag without a value.
func (*serveAt) IsBool() bool { return true }

// Decode sets the address, or the default without a value.
func (s *serveAt) Decode(ctx *kong.DecodeContext) error {
	*s = serve.DefaultListen
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		*s = serveAt(ctx.Scan.Pop().String())
	}
	return nil
}

// serve serves the web UI and the API during the crawl until stop is called, if --serve is set.
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
