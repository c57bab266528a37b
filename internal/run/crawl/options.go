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

// Options say what to crawl, and where things go.
type Options struct {
	Crawl string // name of the crawl
	// Unnamed says that nobody gave the name: without seeds, the only crawl of another name continues.
	Unnamed bool
	Seeds   []messages.Seed // may be empty when the crawl is in Data already, or its spec lists some
	// Spec makes the spec from the one that the crawl has, which is the default
	// for a new crawl.
	Spec func(have crawlspec.Spec) (*crawlspec.Spec, error)
	// Again visits all pages of a complete crawl again. A crawl that is not complete continues.
	Again bool
	Data  string // state: streams, frontier, writer
	// EncryptState is the file of the key that the streams and the frontier's store are
	// encrypted with; "" for the one that they have been encrypted with so far, if any.
	EncryptState string
	// NATS is how a server elsewhere is reached; if it names none, one is embedded in
	// Data.
	NATS connect.Options
	// Listen is where the embedded server can be reached, with port 0 for any.
	Listen   string
	Sync     state.Sync
	Fetcher  fetcher.Config
	Browser  render.Config // for pages that the spec wants rendered
	Parser   parser.Config
	Writer   writer.Config   // of the records
	More     []writer.Config // further writers, as of an archive
	Frontier frontier.Config
	Chain    bool // hand pages to the parser in memory
	// Last says that the process ends when Run has returned, so that a small embedded
	// server need not be stopped in order, which takes some 60 ms.
	Last bool
	// Opened is called once everything could be opened, before anything is
	// fetched.
	Opened func() error
	// Progress, if set, is called with the state of the crawl a few times a second.
	Progress func(Progress)
	// Others, if set, returns the crawls of the directory that have work. The stages run until the crawl has ended and
	// Others returns none.
	Others func(context.Context) ([]string, error)
	// Flusher has the writers of this crawl commit while it runs.
	Flusher *Flusher
	Log     *slog.Logger
	Tracer  *tracing.Tracer     // nil for no traces
	Vitals  *procstats.Reporter // of this process; reports the disks
	Health  *stages.Health      // of this process; ready when the crawl has begun
}

// DefaultOptions are those of a crawl whose state is in a directory, with everything else as the stages have it by default.
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

// Progress is how a crawl stands.
type Progress struct {
	frontierapi.CrawlStatus
	Elapsed  time.Duration
	MaxPages int64
	State    crawlspec.RunState // of the crawl: one that is paused sends nothing
	NATS     string             // where the streams can be looked at
	Data     string             // the directory that tells commands how, if the server is embedded
	Longest  time.Duration      // how long the longest queue of a host lasts
}

// checkFolders reports, before the state is made, that a folder of the output cannot be
// written, and then the same of the state beside an embedded server. Of the output it leaves
// none that was not there.
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
