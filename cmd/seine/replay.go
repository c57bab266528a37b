package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"seine/internal/base/humanize"
	"seine/internal/base/stateencryption"
	"seine/internal/output/bucket"
	"seine/internal/run/config"
	"seine/internal/run/connect"
	"seine/internal/run/crawl"
	"seine/internal/run/process"
	"seine/internal/run/replay"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

type replayCmd struct {
	Parse replayParseCmd `cmd:"" help:"Parse stored pages again, with the same or another spec."`
	Write replayWriteCmd `cmd:"" help:"Write stored records to another destination."`
}

// streamFlags select the streams to replay: those of a cluster, or of a `seine crawl` that may be
// running or not.
type streamFlags struct {
	connect.Operator `embed:""`
	Quiet            bool   `short:"q" help:"Do not show progress."`
	LogLevel         string `help:"Log level: debug, info, warn or error." enum:"debug,info,warn,error" default:"warn"`
	LogFormat        string `help:"Log format: text or json." enum:"text,json" default:"text"`

	key *stateencryption.Key // key of the directory; nil if it is not encrypted
}

func (s *streamFlags) logger(w io.Writer) *slog.Logger {
	return process.Logging{LogLevel: s.LogLevel, LogFormat: s.LogFormat}.Logger(w)
}

// open connects to the streams until end is called.
func (s *streamFlags) open(ctx context.Context, log *slog.Logger) (bus *stages.Bus, end func(), err error) {
	if err := s.Validate(); err != nil {
		return nil, nil, usageError{err}
	}
	data := s.Stored()
	if data != "" {
		if s.key, err = stateencryption.Open(data, ""); err != nil {
			return nil, nil, err
		}
	}
	bus, err = s.Dial("seine-replay", log)
	switch {
	case err == nil:
		end = bus.Close
	case !errors.Is(err, connect.ErrNoCrawl):
		return nil, nil, err
	case data == "":
		return nil, nil, usageError{err}
	default:
		if bus, end, err = crawl.OpenStreams(ctx, data, "seine-replay", s.key, log); err != nil {
			return nil, nil, err
		}
	}
	joining, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := bus.Join(joining); err != nil {
		end()
		return nil, nil, fmt.Errorf("no Seine streams at %s: %w", bus.NC.ConnectedUrlRedacted(), err)
	}
	return bus, end, nil
}

// replayFlags are the flags that all replays share.
type replayFlags struct {
	streamFlags
	Crawl   string          `help:"Only messages of this crawl." placeholder:"NAME"`
	Host    string          `help:"Only messages of this host." placeholder:"HOST"`
	Since   replay.TimeSpec `help:"Only messages stored since then: a period, such as 2h or 7d, or a time, such as 2026-11-21T10:00." placeholder:"TIME"`
	Until   replay.TimeSpec `help:"Only messages stored before then." placeholder:"TIME"`
	FromSeq uint64          `help:"Only messages from this sequence number of the stream on." placeholder:"N"`
	State   string          `help:"Directory of the replay's state, from which it resumes (default: --out with .replay appended)." env:"-" placeholder:"DIR"`
	JSON    bool            `name:"json" help:"Print the report as a JSON object to standard output."`
}

// chunkFlags configure the files of records.
type chunkFlags struct {
	ChunkRecords int                `help:"Records per file (default 10000)." placeholder:"N"`
	ChunkBytes   crawlspec.Bytes    `help:"Bytes per file, before compression (default 64MiB; 4MiB per transaction in a database)." placeholder:"SIZE"`
	ChunkAge     crawlspec.Duration `help:"Finish a file this long after its first record (default 60s, or 4m while less than 4MiB arrive in 60s; 60s in a database)." placeholder:"TIME"`
}

// defaultOut returns the default output of a crawl.
var defaultOut = sync.OnceValue(func() string { return writer.DefaultConfig().Out })

var errNoOut = errors.New("--out: name a place for the records, other than that of the crawl")

// config returns the configuration of the writer.
func (w *chunkFlags) config(place writer.OutputConfig) (*writer.Config, error) {
	cfg := writer.DefaultConfig()
	cfg.OutputConfig, cfg.ChunkRecords, cfg.ChunkBytes, cfg.ChunkAge = place, w.ChunkRecords, w.ChunkBytes, w.ChunkAge
	return &cfg, cfg.Validate()
}

// options returns the options that all replays share.
func (c *replayFlags) options(stream string, to *writer.Config) (replay.Options, error) {
	o := replay.Options{
		Stream: stream, Parser: parser.DefaultConfig(), Writer: to, State: c.State,
		Choice: replay.Selection{Crawl: c.Crawl, Host: c.Host, Since: c.Since, Until: c.Until, FromSeq: c.FromSeq},
	}
	if o.State == "" {
		out := ""
		switch {
		case to == nil:
			return o, errors.New("--state: name a directory for the progress of the replay")
		case !bucket.Is(to.Out) && !writer.IsDatabase(to.Out):
			out = to.Out
		case strings.HasPrefix(to.Out, "sqlite:"):
			out = strings.TrimPrefix(to.Out, "sqlite:")
		default:
			return o, errors.New("--state: name a directory for the progress of the replay; with this --out it has no default")
		}
		o.State = filepath.Clean(out) + ".replay"
	}
	return o, nil
}

// run replays, and prints a report.
func (c *replayFlags) run(o replay.Options) error {
	show := newStatusLine(os.Stderr, c.Quiet)
	o.Progress = func(now replay.Progress) {
		show.update(func() string { return purged(now) }, func() string { return replayLine(now) })
	}
	o.Log = c.logger(show)
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	report, err := c.replay(ctx, o)
	show.done()
	if report == nil {
		if errors.Is(err, context.Canceled) {
			return endError(exitInterrupted)
		}
		return err
	}
	if c.JSON {
		if err := printJSON(report); err != nil {
			return err
		}
	} else {
		printReplay(os.Stdout, report)
	}
	switch {
	case err != nil:
		return err
	case report.Outcome == replay.Interrupted:
		return endError(exitInterrupted)
	}
	return nil
}

// replay runs the replay. If the crawl in --data ends meanwhile, and its server with it, it
// continues with a separate server.
func (c *replayFlags) replay(ctx context.Context, o replay.Options) (*replay.Report, error) {
	o.Ends = c.Stored() != ""
	for tries := 0; ; tries++ {
		bus, end, err := c.open(ctx, o.Log)
		if err != nil {
			return nil, err
		}
		o.Source, o.Key = bus, c.key
		if tries == 0 {
			err = checkReplayed(ctx, &o)
		}
		var report *replay.Report
		if err == nil {
			report, err = replay.Run(ctx, o)
		}
		end()
		if !errors.Is(err, replay.ErrSourceGone) {
			return report, err
		}
	}
}

type replayParseCmd struct {
	replayFlags
	Spec                string `help:"Parse with this spec (YAML) instead of each crawl's own spec." placeholder:"FILE"`
	writer.OutputConfig `embed:""`
	chunkFlags
	Into       bool            `name:"into-records" help:"Publish the records on the stream RECORDS as a new generation, instead of writing them to --out."`
	Generation string          `help:"Name of the generation (default: the time of the start)." placeholder:"NAME"`
	Beyond     bool            `name:"beyond-spec" help:"With --into-records and --spec, also publish fields that the crawl's own spec does not have. Database views do not show them."`
	Workers    int             `help:"Pages parsed concurrently; 0 uses two per processor." default:"0"`
	MaxText    crawlspec.Bytes `help:"Maximum text kept of a page." default:"512KiB"`
	MaxLinks   int             `help:"Maximum links taken from a page." default:"10000"`
}

// Help is shown below the list of flags.
func (c *replayParseCmd) Help() string {
	return `Parses the pages in the stream PAGES, up to the last page at the start of the command, and sends no requests. The crawl may run. If
the command was interrupted, run it again. Examples:

  seine spec check new.yaml
  seine replay parse --crawl news --since 2d --spec new.yaml --out ./again
  seine replay parse --data ./seine-data --spec new.yaml --out ./again --format parquet
  seine spec apply new.yaml --crawl news && seine replay parse --crawl news --into-records --state ./replay

Exit codes: 0 complete, 1 failed, 2 wrong usage, 4 interrupted.`
}

// Validate rejects flags for files if none are written.
func (c *replayParseCmd) Validate(flags *kong.Context) error {
	var files struct {
		writer.OutputConfig `embed:""`
		chunkFlags
	}
	if of := config.Typed(flags, config.Flags(&files)...); c.Into && len(of) > 0 {
		return fmt.Errorf("--into-records and %s: the writers of the crawl decide how files are written: omit one of them", strings.Join(of, ", "))
	}
	return nil
}

// Run parses stored pages again.
func (c *replayParseCmd) Run() error {
	o, err := c.options()
	if err != nil {
		return usageError{err}
	}
	return c.run(o)
}

func (c *replayParseCmd) options() (o replay.Options, err error) {
	var to *writer.Config
	switch {
	case c.Into && c.Out != defaultOut():
		return o, errors.New("--into-records and --out: use one of them")
	case !c.Into && c.Out == defaultOut():
		return o, errNoOut
	case !c.Into:
		if to, err = c.config(c.OutputConfig); err != nil {
			return o, err
		}
	}
	if o, err = c.replayFlags.options(messages.StreamPages, to); err != nil {
		return o, err
	}
	if c.Spec != "" {
		if o.Spec, err = readSpec(c.Spec, io.Discard); err != nil {
			return o, fmt.Errorf("--spec: %w", err)
		}
	}
	o.Generation, o.Beyond = c.Generation, c.Beyond
	o.Parser.Workers, o.Parser.MaxText, o.Parser.MaxLinks = c.Workers, c.MaxText, c.MaxLinks
	return o, o.Validate()
}

type replayWriteCmd struct {
	replayFlags
	writer.OutputConfig `embed:""`
	chunkFlags
}

// Help is shown below the list of flags.
func (c *replayWriteCmd) Help() string {
	return `Writes the records in the stream RECORDS, up to the last record at the start of the command. The crawl may run. If the command was
interrupted, run it again. Examples:

  seine replay write --crawl news --out ./records --format parquet
  seine replay write --data ./seine-data --out sqlite:news.db

Exit codes: 0 complete, 1 failed, 2 wrong usage, 4 interrupted.`
}

// Run writes stored records to another destination.
func (c *replayWriteCmd) Run() error {
	if c.Out == defaultOut() {
		return usageError{errNoOut}
	}
	to, err := c.config(c.OutputConfig)
	if err != nil {
		return usageError{err}
	}
	o, err := c.options(messages.StreamRecords, to)
	if err == nil {
		err = o.Validate()
	}
	if err != nil {
		return usageError{err}
	}
	return c.run(o)
}

// purged describes which messages are no longer available to a replay, "" if all are.
func purged(now replay.Progress) string {
	if now.FirstSeq <= 1 {
		return ""
	}
	return fmt.Sprintf("%s has messages since %s (sequence %d); earlier ones are purged",
		now.Stream, now.FirstTime.Local().Format(time.DateTime), now.FirstSeq)
}

func replayLine(now replay.Progress) string {
	s := fmt.Sprintf("%s  %s", now.Elapsed.Round(time.Second), humanize.Count(now.Done))
	if now.Chosen > 0 {
		s += " of " + humanize.Count(now.Chosen)
	}
	what := "messages" // one may hold several records
	if now.Stream == messages.StreamPages {
		what = "pages"
	}
	s += fmt.Sprintf(" %s  %.0f/s  %s records", what, now.PerSecond, humanize.Count(now.Records))
	if now.DeadLetters > 0 {
		s += fmt.Sprintf("  %s dead letters", humanize.Count(now.DeadLetters))
	}
	if left := time.Duration(now.SecondsLeft * float64(time.Second)); left > 0 {
		s += fmt.Sprintf("  %s to go", left.Round(time.Second))
	}
	return s
}
