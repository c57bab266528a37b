package command

import (
	"context"
	"errors"
	"os"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"seine/internal/base/version"
	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/parser"
)

// Fetcher runs the fetcher stage as a command, with the options of the process, and returns its
// exit code. With --chain the process is also a parser, which receives the fetcher's pages in
// memory; extractors belong to that parser.
func Fetcher(extractors ...parser.Extractor) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	o := fetcherOptions{extractors: extractors}
	return process.Main(messages.StageFetcher, "Seine's fetcher: sends the requests that the frontier schedules.\n\n  fetcher --nats nats://127.0.0.1:4222 --workers 128",
		&o, &o.Common, o.run)
}

// gcPercent makes the garbage collector run half as often as usual: little of a fetcher's heap
// stays in use, and limitMemory bounds the rest.
const gcPercent = 200

type fetcherOptions struct {
	process.Common
	fetcher.Config
	Chain      bool          `help:"Parse pages in this process, including pages of other fetchers, so that no parser process is needed."`
	Parser     parser.Config `embed:"" prefix:"parser-"`
	extractors []parser.Extractor
}

// Validate returns an error for the first invalid flag.
func (o *fetcherOptions) Validate() error {
	if err := o.Config.Validate(); err != nil {
		return err
	}
	if !o.Chain && o.Parser != parser.DefaultConfig() {
		return errors.New("--parser-…: does nothing without --chain")
	}
	return o.Parser.Validate()
}

func (o *fetcherOptions) run(ctx context.Context, env process.Env) error {
	o.limitMemory()
	return work(ctx, env, func(specs *stages.Specs) (worker, error) {
		f, err := fetcher.New(o.Config, env.Bus, specs)
		if err != nil || !o.Chain {
			return f, err
		}
		p, err := parser.New(o.Parser, env.Bus, specs, o.extractors...)
		if err != nil {
			return nil, err
		}
		f.Chain(p.Chain())
		return chained{f, p, env.Bus}, nil
	})
}

// chained is a fetcher and the parser that receives its pages.
type chained struct {
	fetcher *fetcher.Fetcher
	parser  *parser.Parser
	bus     *stages.Bus
}

// Run runs both until ctx is done or one of them returns an error.
func (c chained) Run(ctx context.Context) error {
	if err := stages.Announce(c.bus, messages.StageParser, version.Number, ""); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.fetcher.Run(ctx) })
	g.Go(func() error { return c.parser.Run(ctx) })
	return g.Wait()
}

// ofParser is the memory of a chained parser beside a fetcher: pages and its output.
const ofParser = 128 << 20

// limitMemory sets a memory limit, so that the garbage collector runs more often instead of letting
// the process exceed what its flags allow.
func (o *fetcherOptions) limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := o.Memory()
	if o.Chain {
		limit += ofParser
	}
	debug.SetMemoryLimit(limit)
}
