// Package process is what surrounds a stage in a separate process: options,
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
	ExitOK     = 0 // drained
	ExitFailed = 1 // could not start, or could not continue
	ExitUsage  = 2 // the options are wrong
	exitCut    = 130
)

// Common are the options that every stage has.
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

// Logging says what is logged, and how.
type Logging struct {
	LogLevel  string `help:"Log level: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	LogFormat string `help:"Log format: text, json, or journal (text with the log levels of systemd)." enum:"text,json,journal" default:"text"`
}

// Logger returns the logger that was asked for. Of one message it writes a bounded
// number of lines in a time. Text from sites is escaped in all formats: JSON is
// read by programs, but also shown on terminals (docker logs). Libraries that use package log
// write to it at debug level: net/http has a line for whatever a server does
// wrong, so a hostile one could fill a disk.
func (l Logging) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.LogLevel)) // kong has checked it
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

// unquoted writes lines of package log without the strings that they quote: net/http
// quotes what a server sends unasked, which may hold a secret of the request before.
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

// Config are the options of a command, with kong's tags.
type Config interface{ Validate() error }

// DryRunner is a Config that can say what would be done.
type DryRunner interface {
	// DryRun reports whether only that is asked for.
	DryRun() bool
	// WriteDryRun writes it, and does none of it.
	WriteDryRun(w io.Writer) error
}

// Env is what a stage is given to run with.
type Env struct {
	Bus    *stages.Bus
	Health *stages.Health
	// Vitals are the disks that the stage keeps something on.
	Vitals *procstats.Reporter
	// Started must be called when the stage begins its work: it makes the process
	// ready, and discoverable. The name is that of a writer, "" for other stages.
	Started func(name string) error
}

// Main runs a stage as a command and returns its exit code. Cfg is a pointer
// to the command's options; common points into it. What run finds unavailable
// before it has started is waited for as NATS is: run is called again.
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
	case common.LogFormat != "text": // a reader of lines finds no other text
		log.Error("failed", "error", err)
		return ExitFailed
	}
	return fail(stage, err, ExitFailed)
}

// listening is the option --listen.
type listening string

// Validate implements Config.
func (l listening) Validate() error {
	if l == "off" {
		return nil
	}
	return CheckAddress("--listen", string(l))
}

// CheckAddress reports that a flag is no address that can be listened at.
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

// serve connects, serves metrics and health, and runs the stage. Drain is called on a request by NATS,
// and ends ctx.
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
		defer stop() // when the drain is over
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

// Admin serves metrics and health at an address, until stop is called.
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

// electing reports whether err is of a cluster that has no leader now: it is there,
// but what is asked of it gets no answer. A server without JetStream gets none.
func electing(err error) bool {
	return jsclient.Unavailable(err) && !errors.Is(err, jetstream.ErrJetStreamNotEnabled)
}

// retryWait is how long to wait for NATS before another try.
const retryWait = 500 * time.Millisecond

// dial waits for NATS, saying so, for as long as the options allow.
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

// Signals returns a context that the first SIGINT or SIGTERM ends. The second
// ends the process at once: nothing that was acknowledged depends on a clean
// end.
func Signals(ctx context.Context, w io.Writer) (context.Context, context.CancelFunc) {
	ctx, _, stop := signals(ctx, func() { safeprint.Fprintln(w, "finishing in-flight work; press Ctrl-C again to stop immediately") })
	return ctx, stop
}

// signals is Signals that calls tell at the first. Drain ends the context as the
// first does; the first that comes then is still not the second.
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
