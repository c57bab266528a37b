// Package process runs a stage as a process: options, logging, the connection to NATS, metrics and
// health, and the two signals.
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
	"strconv"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/procname"
	"seine/internal/base/safeprint"
	"seine/internal/base/sleep"
	"seine/internal/base/tracing"
	"seine/internal/base/version"
	"seine/internal/ops/procstats"
	"seine/internal/run/config"
	"seine/internal/run/connect"
	"seine/internal/run/manpage"
	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// Exit codes of a stage's command.
const (
	ExitOK     = 0 // all messages are processed
	ExitFailed = 1 // could not start or continue
	ExitUsage  = 2 // invalid options
	exitCut    = 130
)

// Common is the options that all stages have.
type Common struct {
	config.File
	connect.Options `embed:""`
	NATSWait        crawlspec.Duration `name:"nats-wait" help:"Maximum wait for the NATS server at startup." default:"30s"`
	Listen          string             `help:"Address of /metrics, /healthz and /readyz; off disables them." default:"127.0.0.1:0"`
	Pprof           bool               `help:"Also serve /debug/pprof at that address."`
	Logging
	Tracing tracing.Options  `embed:""`
	Version kong.VersionFlag `help:"Print the version." env:"-"`
	Man     manpage.Flag     `hidden:"" help:"Print the manual page." env:"-"`
}

// Logging is the options of logging.
type Logging struct {
	LogLevel  string `help:"Log level: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	LogFormat string `help:"Log format: text, json, or journal (text with the log levels of systemd)." enum:"text,json,journal" default:"text"`
}

// Logger returns a logger with the configured level and format. It bounds the number of lines with
// the same message per interval. All formats escape text from sites: JSON is read by programs, but
// also shown on terminals (docker logs). Libraries that use package log write to it at debug level,
// because net/http logs every protocol error of a server, and a hostile server could fill a disk.
func (l Logging) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.LogLevel)) // kong has validated it
	o := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(w, o)
	switch l.LogFormat {
	case "json":
		h = slog.NewJSONHandler(safeprint.EscapeJSON(w), o)
	case "journal":
		h = newJournalHandler(w, *o)
	}
	h = newBurstLimiter(h)
	log.SetFlags(0)
	log.SetOutput(unquoted{slog.NewLogLogger(h, slog.LevelDebug).Writer()})
	return slog.New(h)
}

// unquoted redacts quoted strings in lines of package log. net/http quotes unsolicited responses,
// which may contain a secret of the previous request.
type unquoted struct{ io.Writer }

var quotedString = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// Write implements io.Writer.
func (u unquoted) Write(line []byte) (int, error) {
	text := quotedString().ReplaceAllFunc(line, func(q []byte) []byte { return fmt.Appendf(nil, "(%d bytes)", len(q)-2) })
	if _, err := u.Writer.Write(text); err != nil {
		return 0, fmt.Errorf("log: %w", err)
	}
	return len(line), nil
}

// Config is the options of a command, with kong's tags.
type Config interface{ Validate() error }

// DryRunner is a Config with a dry run.
type DryRunner interface {
	// DryRun reports whether only a dry run is requested.
	DryRun() bool
	// WriteDryRun prints what the command would do, without doing it.
	WriteDryRun(w io.Writer) error
}

// Env is the environment of a stage's run function.
type Env struct {
	Bus    *stages.Bus
	Health *stages.Health
	// Vitals reports the disks that the stage writes to.
	Vitals *procstats.Reporter
	// Started must be called when the stage begins to work: the process becomes ready and
	// discoverable. name is the name of a writer, "" for other stages.
	Started func(name string) error
}

// Main runs a stage as a command and returns its exit code. cfg is a pointer to the command's
// options; common points into it. If JetStream is unavailable before run has started, Main calls
// run again, as it waits for NATS.
func Main(stage, about string, cfg Config, common *Common, run func(ctx context.Context, env Env) error) int {
	parser, err := config.New(cfg, stage, about, kong.Vars{"version": version.Line(stage)})
	if err != nil {
		return fail(stage, err, ExitFailed)
	}
	if _, err := config.Parse(parser, os.Args[1:]); err != nil {
		return fail(stage, fmt.Errorf("%w (%s --help lists all options)", err, stage), ExitUsage)
	}
	for _, options := range []Config{&common.Options, &common.Tracing, listening(common.Listen), cfg} {
		if err := options.Validate(); err != nil {
			return fail(stage, err, ExitUsage)
		}
	}
	if p, ok := cfg.(DryRunner); ok && p.DryRun() {
		if err := p.WriteDryRun(os.Stdout); err != nil {
			return fail(stage, err, ExitFailed)
		}
		return ExitOK
	}
	log := common.Logger(os.Stderr).With("stage", stage)
	for _, text := range config.UnknownVariables(os.Environ()) {
		log.Warn("an environment variable does nothing", "reason", text)
	}
	ctx, drain, stop := signals(context.Background(), func() { log.Info("finishing in-flight work; the next signal stops immediately") })
	defer stop()
	err = serve(ctx, stage, common, log, drain, run)
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return ExitOK
	case common.LogFormat != "text": // log processors expect no other text
		log.Error("failed", "error", err)
		return ExitFailed
	}
	return fail(stage, err, ExitFailed)
}

// listening validates the option --listen.
type listening string

// Validate implements Config.
func (l listening) Validate() error {
	if l == "off" {
		return nil
	}
	return CheckAddress("--listen", string(l))
}

// CheckAddress returns an error if a flag's address is not HOST:PORT.
func CheckAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s %q: must be HOST:PORT, such as 127.0.0.1:9400, or :9400 for all addresses", flag, address)
	}
	return nil
}

func fail(stage string, err error, code int) int {
	safeprint.Fprintf(os.Stderr, "%s: %v\n", stage, err)
	return code
}

// serve connects, serves metrics and health, and runs the stage. drain is called on a request over
// NATS, and ends ctx.
func serve(ctx context.Context, stage string, c *Common, log *slog.Logger, drain func(), run func(context.Context, Env) error) error {
	bus, err := dial(ctx, stage, c, log)
	if err != nil {
		return err
	}
	defer bus.Close()
	if bus.Tracer, err = c.Tracing.Open(ctx, "seine-"+stage, version.Number, procname.Instance(), log); err != nil {
		return err
	}
	defer bus.Tracer.Close()
	env := Env{Bus: bus, Health: stages.NewHealth(), Vitals: procstats.NewReporter(stage)}
	env.Health.Add("nats", bus.Ready)
	env.Vitals.ReadyBy(env.Health.Err)
	env.Vitals.DrainBy(drain)
	defer context.AfterFunc(ctx, env.Vitals.Draining)()
	env.Started = func(name string) error {
		env.Health.Start()
		if name != "" {
			env.Vitals.Rename(stage + " " + name)
		}
		if err := env.Vitals.Serve(bus.NC, log); err != nil {
			return err
		}
		return stages.Announce(bus, stage, version.Number, name)
	}
	if c.Listen != "off" {
		stop, err := Admin(c.Listen, env.Vitals, env.Health, c.Pprof, log)
		if err != nil {
			return fmt.Errorf("--listen %s: %w", c.Listen, err)
		}
		defer stop() // after the drain
	}
	for deadline := time.Now().Add(time.Duration(c.NATSWait)); ; {
		err := run(ctx, env)
		if err == nil {
			log.Info("drained")
			return nil
		}
		if ctx.Err() == nil { // not because of a signal
			err = bus.Refusals.WithErr(err)
		}
		if env.Health.Started() || bus.Refusals.Err() != nil || !electing(err) || time.Now().After(deadline) {
			return err
		}
		log.Info("waiting for NATS", "error", err)
		if err := sleep.For(ctx, retryWait); err != nil {
			return err
		}
	}
}

// Admin serves metrics and health at an address until stop is called.
func Admin(address string, self *procstats.Reporter, health *stages.Health, profile bool, log *slog.Logger) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics and health: %w", err)
	}
	own := []prometheus.Collector{self, buildInfo()}
	prometheus.MustRegister(own...)
	log.Info("serving metrics and health", "version", version.Number, "address", "http://"+l.Addr().String())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		if err := stages.ServeAdmin(ctx, l, health, profile); err != nil {
			log.Error("metrics and health cannot be served", "error", err)
		}
	}()
	return func() {
		cancel()
		for _, c := range own {
			prometheus.Unregister(c)
		}
	}, nil
}

// electing reports whether err is due to a cluster without a leader: its servers are up, but
// requests get no reply. A server without JetStream never gets a leader.
func electing(err error) bool {
	return jsclient.Unavailable(err) && !errors.Is(err, jetstream.ErrJetStreamNotEnabled)
}

// retryWait is the wait between attempts to reach NATS.
const retryWait = 500 * time.Millisecond

// dial waits for NATS as long as the options allow, and logs that it waits.
func dial(ctx context.Context, stage string, c *Common, log *slog.Logger) (*stages.Bus, error) {
	deadline := time.Now().Add(time.Duration(c.NATSWait))
	for said := false; ; {
		bus, err := c.Dial("seine-"+stage, log)
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
		case <-time.After(retryWait):
		}
	}
}

// Signals returns a context that the first SIGINT or SIGTERM cancels. The second signal ends the
// process at once, which is safe: no acknowledged message depends on a clean shutdown.
func Signals(ctx context.Context, w io.Writer) (context.Context, context.CancelFunc) {
	ctx, _, stop := signals(ctx, func() { safeprint.Fprintln(w, "finishing in-flight work; press Ctrl-C again to stop immediately") })
	return ctx, stop
}

// signals is like Signals, but calls tell at the first signal. drain cancels the context as the
// first signal does; a signal after it still counts as the first.
func signals(ctx context.Context, tell func()) (until context.Context, drain, stop context.CancelFunc) {
	ctx, stop = context.WithCancel(ctx)
	until, drain = context.WithCancel(ctx)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-c:
		case <-ctx.Done():
			return
		}
		tell()
		drain()
		<-c
		os.Exit(exitCut)
	}()
	return until, drain, stop
}
