// Package process is what surrounds a stage in a process of its own: options,
// logging, the connection to NATS, metrics and health, and the two signals.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"seine/internal/config"
	"seine/internal/version"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Exit codes of a stage's command.
const (
	ExitOK     = 0 // drained
	ExitFailed = 1 // could not start, or could not go on
	ExitUsage  = 2 // the options are wrong
	exitCut    = 130
)

// Common are the options that every stage has.
type Common struct {
	config.File
	NATS     string            `name:"nats" help:"URL of the NATS server." env:"SEINE_NATS_URL" default:"nats://127.0.0.1:4222"`
	NATSWait messages.Duration `name:"nats-wait" help:"How long to wait for NATS at the start." default:"30s"`
	Listen   string            `help:"Address of /metrics, /healthz and /readyz; off for none." default:"127.0.0.1:0"`
	Pprof    bool              `help:"Serve /debug/pprof there too."`
	Logging
	Version kong.VersionFlag `help:"Print the version." env:"-"`
}

// Logging says what is logged, and how.
type Logging struct {
	LogLevel  string `help:"What to log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	LogFormat string `help:"How to log: text or json." enum:"text,json" default:"text"`
}

// Logger returns the logger that was asked for. Libraries that use package log
// write to it at debug level: net/http has a line for whatever a server does
// wrong, so a hostile one could fill a disk.
func (l Logging) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.LogLevel)) // kong has checked it
	o := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if l.LogFormat == "json" {
		h = slog.NewJSONHandler(w, o)
	}
	log.SetFlags(0)
	log.SetOutput(slog.NewLogLogger(h, slog.LevelDebug).Writer())
	return slog.New(h)
}

// Config are the options of a command, with kong's tags.
type Config interface{ Validate() error }

// Env is what a stage is given to run with.
type Env struct {
	Bus    *stages.Bus
	Health *stages.Health
	// Started must be called when the stage begins its work: it makes the process
	// ready, and discoverable.
	Started func() error
}

// Main runs a stage as a command and returns its exit code. Cfg is a pointer
// to the command's options; common points into it.
func Main(stage, about string, cfg Config, common *Common, run func(ctx context.Context, env Env) error) int {
	parser, err := config.New(cfg, stage, about, kong.Vars{"version": version.String()})
	if err != nil {
		return fail(stage, err, ExitFailed)
	}
	if _, err := parser.Parse(os.Args[1:]); err != nil {
		return fail(stage, fmt.Errorf("%w (%s --help lists all options)", err, stage), ExitUsage)
	}
	if err := cfg.Validate(); err != nil {
		return fail(stage, err, ExitUsage)
	}
	ctx, stop := Signals(context.Background(), os.Stderr)
	defer stop()
	if err := serve(ctx, stage, common, run); err != nil && !errors.Is(err, context.Canceled) {
		return fail(stage, err, ExitFailed)
	}
	return ExitOK
}

func fail(stage string, err error, code int) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", stage, err)
	return code
}

// serve connects, serves metrics and health, and runs the stage.
func serve(ctx context.Context, stage string, c *Common, run func(context.Context, Env) error) error {
	log := c.Logger(os.Stderr).With("stage", stage)
	bus, err := connect(ctx, stage, c, log)
	if err != nil {
		return err
	}
	defer bus.Close()
	env := Env{Bus: bus, Health: new(stages.Health)}
	env.Health.Add("nats", func() error {
		if !bus.NC.IsConnected() {
			return errors.New("not connected")
		}
		return nil
	})
	var started atomic.Bool
	env.Health.Add("start", func() error {
		if !started.Load() {
			return errors.New("waiting for the streams, or opening its state")
		}
		return nil
	})
	env.Started = func() error {
		started.Store(true)
		return stages.Announce(bus, stage, version.Number)
	}
	// Metrics are served until the drain is over.
	admin, stopAdmin := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAdmin()
	if c.Listen != "off" {
		l, err := net.Listen("tcp", c.Listen)
		if err != nil {
			return fmt.Errorf("--listen %s: %w", c.Listen, err)
		}
		log.Info("serving metrics and health", "address", "http://"+l.Addr().String())
		go func() {
			if err := stages.ServeAdmin(admin, l, env.Health, c.Pprof); err != nil {
				log.Error("metrics and health", "error", err)
			}
		}()
	}
	if err := run(ctx, env); err != nil {
		return err
	}
	log.Info("drained")
	return nil
}

// connect waits for NATS, saying so, for as long as the options allow.
func connect(ctx context.Context, stage string, c *Common, log *slog.Logger) (*stages.Bus, error) {
	deadline := time.Now().Add(time.Duration(c.NATSWait))
	for said := false; ; {
		bus, err := stages.Dial(c.NATS, "seine-"+stage, log)
		if err == nil || time.Now().After(deadline) {
			return bus, err
		}
		if !said {
			log.Info("waiting for NATS", "error", err)
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// Signals returns a context that the first SIGINT or SIGTERM ends. The second
// ends the process at once: nothing that was acknowledged depends on a clean
// end.
func Signals(ctx context.Context, w io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-c:
		case <-ctx.Done():
			return
		}
		fmt.Fprintln(w, "finishing what is under way; once more to stop at once")
		cancel()
		<-c
		os.Exit(exitCut)
	}()
	return ctx, cancel
}

// Instance names this process among others of its stage.
func Instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", strings.Split(host, ".")[0], os.Getpid())
}
