package main

import (
	"context"
	"os"
	"path/filepath"

	"seine/internal/render"
	"seine/internal/run/process"
	"seine/internal/serve"
	"seine/internal/serve/caller"
	"seine/internal/serve/mcp"
)

type mcpCmd struct {
	connection
	AllowWrite   bool          `help:"Allow the client to start crawls."`
	AllowPrivate bool          `help:"Allow the client's crawls and page requests to reach loopback and private addresses."`
	State        string        `help:"Directory of the audit log (default: serve in --data, or ./seine-serve)." placeholder:"DIR"`
	Out          string        `help:"Output to read records from, and to write the client's crawls to (default: the output of --data or of the cluster's writers)." placeholder:"PLACE"`
	Browser      render.Config `embed:""`
	Secrets      string        `help:"Directory with one file for each {secret:NAME}. Allows the client to use specs with secrets." placeholder:"DIR"`
	process.Logging
}

// Help is shown below the list of flags.
func (c *mcpCmd) Help() string {
	return `An MCP client starts this command and gets the tools scrape, map, status, explain and records, and with --allow-write also crawl and cancel. The
command logs to standard error and ends when standard input closes. A crawl that it ran resumes with seine crawl --data. Use absolute
paths. docs/reference/api.md shows how to configure a client.

  seine mcp --data /srv/seine-data                     # read the crawls of a directory, and scrape
  seine mcp --data /srv/seine-data --allow-write       # also start crawls
  seine mcp --nats nats://10.0.0.5`
}

// Run answers requests until standard input ends or a signal comes.
func (c *mcpCmd) Run() error {
	if err := c.Validate(); err != nil {
		return usageError{err}
	}
	out := os.Stdout
	os.Stdout = os.Stderr // the client reads messages there, so nothing else may write to it
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

// server returns the server of seine serve without a listener. Both share one audit log; the
// server's other state is for one process at a time.
func (c *mcpCmd) server() (*server, error) {
	s := serveCmd{connection: c.connection, Listen: serve.DefaultListen, AllowPrivate: c.AllowPrivate, State: c.State, Out: c.Out, Secrets: c.Secrets, Browser: c.Browser}
	s.Rate, s.ReadOnly = serve.DefaultRate, !c.AllowWrite
	s.auditDir = s.stateDir()
	s.State = filepath.Join(s.auditDir, "mcp")
	return s.server(c.Logger(os.Stderr), true)
}

// caller returns the rights that the flags grant.
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
