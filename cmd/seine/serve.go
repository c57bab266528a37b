package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/safeprint"
	"seine/internal/ops/procstats"
	"seine/internal/render"
	"seine/internal/run/connect"
	"seine/internal/run/process"
	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/audit"
	"seine/internal/serve/cluster"
	"seine/internal/serve/figures"
	"seine/internal/serve/mcp"
	"seine/internal/serve/pages"
	"seine/internal/serve/replays"
	"seine/internal/serve/runner"
	"seine/internal/serve/scrape"
	"seine/internal/serve/snapshots"
	"seine/internal/serve/tokens"
	"seine/internal/serve/webhooks"
	"seine/pkg/stages"
	"seine/pkg/stages/writer"
)

// serverFlags configure the server's address and access.
type serverFlags struct {
	PathPrefix string   `help:"Path prefix that a reverse proxy adds, such as /seine." placeholder:"PATH"`
	Host       []string `help:"Additional host name that clients use, such as the name of a proxy. Repeatable." sep:"none" placeholder:"NAME"`
	ReadOnly   bool     `help:"Reject all requests that change anything."`
	Tokens     string   `help:"File of tokens (see seine token create). Every request needs a token." placeholder:"FILE"`
	serve.TLS  `embed:""`
	Rate       float64 `help:"Maximum requests per second and client." default:"500"`
}

type serveCmd struct {
	connection
	Listen string `help:"Address to listen on. An address that other machines can reach needs --tokens or --client-ca." default:"127.0.0.1:8077" placeholder:"HOST:PORT"`
	serverFlags
	AllowPrivate bool          `help:"Allow crawls, page requests and webhooks of the API to reach loopback and private addresses."`
	Metrics      string        `help:"Serve Prometheus metrics and health checks at this address, such as 127.0.0.1:9465." placeholder:"HOST:PORT"`
	State        string        `help:"Directory of the server's state: audit log, webhooks, idempotency keys and running replays (default: serve in --data, or ./seine-serve)." placeholder:"DIR"`
	Replayed     string        `help:"Output directory of replays, with one subdirectory per replay (default: replayed in --state)." placeholder:"DIR"`
	Out          string        `help:"Output to read records from, and to write the API's crawls to (default: the output of --data or of the cluster's writers)." placeholder:"PLACE"`
	Browser      render.Config `embed:""`
	auditDir     string        // "" means State
	Secrets      string        `help:"Directory with one file for each {secret:NAME} of specs that scrape requests use. The environment variable SEINE_SECRET_NAME takes precedence." placeholder:"DIR"`
	process.Logging

	flush func(context.Context) // commits the records of the crawl in this process; nil if there is none
}

// Help is shown below the list of flags.
func (c *serveCmd) Help() string {
	return `Shows the crawls in --data, running or not, or the cluster of --nats, and reconnects after an outage. With --data, it also runs the
crawls that the API starts or resumes, unless seine crawl runs there. docs/reference/api.md describes the HTTP API. Examples:

  seine serve                                          # for ./seine-data, at http://127.0.0.1:8077/
  seine serve --nats nats://10.0.0.5 --read-only
  seine token create laptop --scope read --tokens tokens.json
  seine serve --listen :8077 --tokens tokens.json --tls-cert cert.pem --tls-key key.pem`
}

// Run serves until a signal.
func (c *serveCmd) Run() error {
	if err := c.Validate(); err != nil {
		return usageError{err}
	}
	log := c.Logger(os.Stderr)
	s, err := c.server(log, true)
	if err != nil {
		return err
	}
	defer s.close()
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	l, err := s.Open()
	if err != nil {
		return err
	}
	end, err := c.serveMetrics(log) // after Open: it reports that the server is ready
	if err != nil {
		return err
	}
	defer end()
	safeprint.Printf("serving at %s: %s\n", s.URL(l), c.source())
	return s.run(ctx, l)
}

// source describes what is served: a new directory, when a cluster exists, is nearly always a
// mistake.
func (c *serveCmd) source() string {
	if c.Options != (connect.Options{}) {
		return "the cluster"
	}
	return "the crawls in " + c.data() + " (--nats serves a cluster)"
}

// serveMetrics serves metrics and health checks until stop is called, if --metrics is set.
func (c *serveCmd) serveMetrics(log *slog.Logger) (stop func(), err error) {
	if c.Metrics == "" {
		return func() {}, nil
	}
	if err := process.CheckAddress("--metrics", c.Metrics); err != nil {
		return nil, usageError{err}
	}
	self, health := procstats.NewReporter("serve"), stages.NewHealth()
	self.AddDisk("state", c.stateDir())
	self.ReadyBy(health.Err)
	health.Start()
	if stop, err = process.Admin(c.Metrics, self, health, false, log); err != nil {
		return nil, fmt.Errorf("--metrics %s: %w", c.Metrics, err)
	}
	return stop, nil
}

// server holds the parts of the server.
type server struct {
	serve.Options
	cluster  *cluster.Cluster
	scraper  *scrape.Scraper
	feed     *snapshots.Feed
	figures  *figures.Sampler
	webhooks *webhooks.Service
	replays  *replays.Service
	runner   *runner.Runner // nil if other processes run crawls
}

// run serves until ctx is done.
func (s *server) run(ctx context.Context, l net.Listener) error {
	prometheus.MustRegister(s.webhooks)
	defer prometheus.Unregister(s.webhooks)
	return s.work(ctx, func(ctx context.Context) error { return serve.Serve(ctx, &s.Options, l) })
}

// work runs the background services, including crawls, while answer runs.
func (s *server) work(ctx context.Context, answer func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { s.feed.Run(ctx); return nil })
	g.Go(func() error { s.webhooks.Run(ctx); return nil })
	g.Go(func() error { s.replays.Run(ctx); return nil })
	if s.runner != nil {
		g.Go(func() error { s.runner.Run(ctx); return nil })
	}
	g.Go(func() error { defer stop(); return answer(ctx) })
	return g.Wait()
}

// tools returns the options of the Model Context Protocol.
func (s *server) tools() mcp.Options {
	return mcp.Options{API: s.Calls(), ReadOnly: s.ReadOnly, Log: s.Log}
}

func (s *server) close() {
	s.figures.Store()
	s.scraper.Close()
	s.cluster.Close()
	_ = s.Audit.Close() // each line was written when it was added
}

// server sets up the server. crawls lets it run crawls of a directory itself.
func (c *serveCmd) server(log *slog.Logger, crawls bool) (*server, error) {
	o := serve.Options{
		Listen: c.Listen, PathPrefix: c.PathPrefix, Hosts: c.Host, ReadOnly: c.ReadOnly, TLS: c.TLS, Rate: c.Rate, Log: log,
	}
	var err error
	if c.Tokens != "" {
		o.Tokens, err = tokens.Open(c.Tokens)
	}
	if err = errors.Join(err, o.Validate(), c.checkPlaces()); err != nil {
		return nil, usageError{err}
	}
	if o.Audit, err = audit.Open(cmp.Or(c.auditDir, c.stateDir())); err != nil {
		return nil, fmt.Errorf("%s: %w", c.stateFlag(), err)
	}
	s := &server{Options: o, cluster: cluster.New(c.Operator, log)}
	s.feed = snapshots.New(s.cluster, log)
	if s.scraper, err = scrape.New(c.Secrets, c.Browser); err != nil {
		return nil, usageError{err}
	}
	if s.webhooks, err = webhooks.New(filepath.Join(c.stateDir(), "webhooks"), s.cluster, log); err != nil {
		return nil, fmt.Errorf("%s: %w", c.stateFlag(), err)
	}
	s.webhooks.AllowPrivate = c.AllowPrivate
	replayed := cmp.Or(c.Replayed, filepath.Join(c.stateDir(), "replayed"))
	if s.replays, err = replays.New(filepath.Join(c.stateDir(), "replays"), replayed, s.cluster, log); err != nil {
		return nil, fmt.Errorf("%s: %w", c.stateFlag(), err)
	}
	s.replays.Off = c.ReadOnly
	ao := api.Options{
		Cluster: s.cluster, Webhooks: s.webhooks, Replays: s.replays, Feed: s.feed, Scraper: s.scraper, Audit: o.Audit, ReadOnly: c.ReadOnly, AllowPrivate: c.AllowPrivate, PathPrefix: c.PathPrefix, Out: c.Out,
		Keys: filepath.Join(c.stateDir(), "keys"), Flush: c.flush, Log: log,
	}
	if crawls && c.Options == (connect.Options{}) && !c.ReadOnly {
		s.runner = runner.New(s.cluster, c.crawlOptions, log)
		ao.Starter, ao.Flush = s.runner, s.runner.Flush
	}
	a := api.New(ao)
	s.figures = figures.New(filepath.Join(c.stateDir(), "figures"), log)
	s.feed.Each = s.figures.Observe
	s.API, s.Harmless = a, append(a.Harmless(), pages.Harmless...)
	s.Style = pages.StyleSheet()
	s.Pages = pages.New(pages.Deps{
		Cluster: s.cluster, Feed: s.feed, Figures: s.figures, API: a, Prefix: c.PathPrefix, ReadOnly: c.ReadOnly, Log: log,
	})
	s.MCP = mcp.Handler(s.tools())
	return s, nil
}

// stateDir returns the directory of the server's own state.
func (c *serveCmd) stateDir() string {
	switch {
	case c.State != "":
		return c.State
	case c.Options != (connect.Options{}):
		return "./seine-serve"
	}
	return filepath.Join(c.data(), "serve")
}

// stateFlag returns the flag that determines the directory.
func (c *serveCmd) stateFlag() string {
	if c.State == "" && c.Options == (connect.Options{}) {
		return "--data"
	}
	return "--state"
}

// checkPlaces returns an error if crawls or replays could not write to their destinations.
func (c *serveCmd) checkPlaces() error {
	if c.Out != "" && !writer.IsDatabase(c.Out) && !strings.HasPrefix(c.Out, "s3://") { // the others have options, which a crawl checks
		out := writer.DefaultConfig().OutputConfig
		if out.Out = c.Out; out.Validate() != nil {
			return out.Validate()
		}
	}
	if at, err := os.Stat(c.Replayed); err == nil && !at.IsDir() {
		return fmt.Errorf("--replayed %s: is a file: name a directory, which is created if it does not exist", c.Replayed)
	}
	return nil
}

// data returns the directory of crawls.
func (c *serveCmd) data() string { return cmp.Or(c.Data, connect.DefaultData) }
