package command

import (
	"context"

	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages/parser"
)

// Parser runs the parser stage as a command, with the options of the process,
// and returns its exit code. Extractors read what the parser itself does not.
func Parser(extractors ...parser.Extractor) int {
	o := parserOptions{extractors: extractors}
	return process.Main(messages.StageParser, "Seine's parser: extracts records and links from pages.\n\n  parser --nats nats://127.0.0.1:4222 --workers 8", &o, &o.Common, o.run)
}

type parserOptions struct {
	process.Common
	parser.Config
	extractors []parser.Extractor
}

func (o *parserOptions) run(ctx context.Context, env process.Env) error {
	specs, stop, err := join(ctx, env.Bus)
	if err != nil {
		return err
	}
	defer stop()
	s, err := parser.New(o.Config, env.Bus, specs, o.extractors...)
	if err != nil {
		return err
	}
	if err := env.Started(""); err != nil {
		return err
	}
	return s.Run(ctx)
}
