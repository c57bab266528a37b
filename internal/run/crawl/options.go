package crawl

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"seine/internal/base/tracing"
	"seine/internal/frontier/state"
	"seine/internal/ops/procstats"
	"seine/internal/output/bucket"
	"seine/internal/render"
	"seine/internal/run/connect"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

// Options configure a crawl and the locations of its state and output.
type Options struct {
	Crawl string // name of the crawl
	// Unnamed is set if the user gave no name. Without seeds, the only existing crawl then
	// continues, whatever its name.
	Unnamed bool
	Seeds   []messages.Seed // may be empty if Data holds the crawl or the spec has seeds
	// Spec derives the spec from the crawl's stored one, which for a new crawl is the default.
	Spec func(have crawlspec.Spec) (*crawlspec.Spec, error)
	// Again visits all pages of a complete crawl again. A crawl that is incomplete continues.
	Again bool
	Data  string // directory of the state: streams, frontier, writer
	// EncryptState is the key file that encrypts the streams and the frontier's store; "" for the
	// file that encrypted them so far, if any.
	EncryptState string
	// NATS selects an external server. If it names none, a server is embedded in Data.
	NATS connect.Options
	// Listen is the address of the embedded server, HOST:PORT; port 0 selects a free port.
	Listen   string
	Sync     state.Sync
	Fetcher  fetcher.Config
	Browser  render.Config // for pages that the spec renders
	Parser   parser.Config
	Writer   writer.Config   // for records
	More     []writer.Config // additional writers, such as that of an archive
	Frontier frontier.Config
	Chain    bool // pass pages to the parser in memory
	// Last is set if the process exits when Run returns. A small embedded server is then not shut
	// down, which saves about 60 ms.
	Last bool
	// Opened is called after everything is open and before anything is fetched.
	Opened func() error
	// Progress, if set, receives the state of the crawl a few times a second.
	Progress func(Progress)
	// Others, if set, returns the crawls in the same directory that have work. The stages run until
	// this crawl has ended and Others returns none.
	Others func(context.Context) ([]string, error)
	// Flusher commits the open files of this crawl while it runs.
	Flusher *Flusher
	Log     *slog.Logger
	Tracer  *tracing.Tracer     // nil for no traces
	Vitals  *procstats.Reporter // of this process; reports its disks
	Health  *stages.Health      // of this process; ready once the crawl has begun
}

// DefaultOptions returns options for a crawl whose state is in a directory, with the stages'
// defaults.
func DefaultOptions(name, data string) Options {
	o := Options{
		Crawl: name, Data: data, Log: slog.New(slog.DiscardHandler),
		Frontier: frontier.DefaultConfig(), Fetcher: fetcher.DefaultConfig(), Parser: parser.DefaultConfig(), Writer: writer.DefaultConfig(),
		Browser: render.DefaultConfig(), Opened: func() error { return nil }, Flusher: new(Flusher),
		Vitals: procstats.NewReporter("crawl"), Health: stages.NewHealth(),
	}
	o.Frontier.State, o.Writer.State = filepath.Join(data, "frontier"), filepath.Join(data, "writer")
	return o
}

// Progress is the state of a running crawl.
type Progress struct {
	frontierapi.CrawlStatus
	Elapsed  time.Duration
	MaxPages int64
	State    crawlspec.RunState // a paused crawl sends no requests
	NATS     string             // URL of the server
	Data     string             // directory of an embedded server, for other commands; "" for an external server
	Longest  time.Duration      // time until the longest queue of a host is empty
}

// checkFolders reports, before it creates any state, that a directory of the output or the state is
// not writable. It removes output directories that it had to create.
func (o *Options) checkFolders() error {
	for _, w := range o.Writers() {
		if bucket.Is(w.Out) || writer.IsDatabase(w.Out) {
			continue
		}
		defer removeEmpty(missing(w.Out))
		if err := checkOut(&w); err != nil {
			return err
		}
	}
	if o.NATS.Given() {
		return nil
	}
	return checkWritable("--data", o.Data)
}
