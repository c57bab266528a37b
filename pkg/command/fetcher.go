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

// Fetcher runs the fetcher stage as a command, with the options of the process, and
// returns its exit code. With --chain the process is a parser too, to which the
// fetcher hands its pages in memory; extractors are of that.
func Fetcher(extractors ...parser.Extractor) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	o := fetcherOptions{extractors: extractors}
	return process.Main(messages.StageFetcher, "Seine's fetcher: sends the requests that the frontier schedules.\n\n  fetcher --nats nats://127.0.0.1:4222 --workers 128",
		&o, &o.Common, o.run)
}

// gcPercent lets the collector run half as often as usual: little of a fetcher's
// heap stays, and limitMemory bounds the rest.
const gcPercent = 200

type fetcherOptions struct {
	process.Common
	fetcher.Config
	Chain      bool          `help:"Parse pages in this process, including pages of other fetchers, so that no parser process is needed."`
	Parser     parser.Config `embed:"" prefix:"parser-"`
	extractors []parser.Extractor
}

// Validate names the first flag that is wrong.
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

// chained is a fetcher and the parser that it hands its pages to.
type chained struct {
	fetcher *fetcher.Fetcher
	parser  *parser.Parser
	bus     *stages.Bus
}

// Run runs both. The one that ends by itself ends the other.
func (c chained) Run(ctx context.Context) error {
	if err := stages.Announce(c.bus, messages.StageParser, version.Number, ""); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.fetcher.Run(ctx) })
	g.Go(func() error { return c.parser.Run(ctx) })
	return g.Wait()
}

// ofParser is what a chained parser takes beside a fetcher: pages, and what is made of them.
const ofParser = 128 << 20

// limitMemory makes the collector work harder rather than let the process grow
// past what its flags allow.
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
