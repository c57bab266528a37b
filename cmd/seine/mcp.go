package main

import (
	"context"
	"os"
	"path/filepath"

	"seine/internal/run/process"
	"seine/internal/serve"
	"seine/internal/serve/caller"
	"seine/internal/serve/mcp"
)

type mcpCmd struct {
	connection
	AllowWrite   bool   `help:"Let the client begin crawls."`
	AllowPrivate bool   `help:"Let crawls and single pages that the client asks for reach loopback and private addresses."`
	State        string `help:"Directory of the log of writes (default that of seine serve: serve in --data, or ./seine-serve)." placeholder:"DIR"`
	Out          string `help:"Where records are, and where crawls that the client begins write them, if not where --data or the writers of the cluster say." placeholder:"PLACE"`
	Secrets      string `help:"Folder with a file for each {secret:NAME}: lets the client use specs that name secrets." placeholder:"DIR"`
	process.Logging
}

// Help is shown below the list of flags.
func (c *mcpCmd) Help() string {
	return `A client starts it, and has tools then: scrape, map, status, explain, records; crawl with --allow-write. It logs to standard
error, and ends with its standard input; a crawl that it runs goes on by seine crawl --data, or by the next one that is told so.
Give absolute paths: clients start it anywhere. docs/reference/api.md tells how a client is told of it.

  seine mcp --data /srv/seine-data                     # look into the crawls of a directory, and scrape
  seine mcp --data /srv/seine-data --allow-write       # begin crawls as well
  seine mcp --nats nats://10.0.0.5`
}

// Run answers until standard input ends, or a signal comes.
func (c *mcpCmd) Run() error {
	if err := c.Validate(); err != nil {
		return usageError{err}
	}
	out := os.Stdout
	os.Stdout = os.Stderr // the client reads messages alone there, so nothing else may write to it
	s, err := c.server()
	if err != nil {
		return err
	}
	defer s.close()
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	return s.work(ctx, func(ctx context.Context) error {
		return mcp.ServeStream(ctx, s.tools(), c.caller(), os.Stdin, out)
	})
}

// server is that of seine serve, which listens nowhere. Both have one log of writes; what else the server keeps is for one
// process at a time.
func (c *mcpCmd) server() (*server, error) {
	s := serveCmd{connection: c.connection, Listen: serve.DefaultListen, AllowPrivate: c.AllowPrivate, State: c.State, Out: c.Out, Secrets: c.Secrets}
	s.Rate, s.ReadOnly = serve.DefaultRate, !c.AllowWrite
	s.auditDir = s.stateDir()
	s.State = filepath.Join(s.auditDir, "mcp")
	return s.server(c.Logger(os.Stderr), true)
}

// caller has the rights that the flags give.
func (c *mcpCmd) caller() caller.Caller {
	who := caller.Caller{Name: "mcp", Scopes: []caller.Scope{caller.Read, caller.Scrape, caller.Records}}
	if c.AllowWrite {
		who.Scopes = append(who.Scopes, caller.Write)
	}
	if c.Secrets != "" {
		who.Scopes = append(who.Scopes, caller.Secrets)
	}
	return who
}
