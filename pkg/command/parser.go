package command

import (
	"context"

	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/parser"
)

// Parser runs the parser stage as a command, with the options of the process, and returns its exit
// code. Extractors read documents that the parser itself cannot.
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
	return work(ctx, env, func(specs *stages.Specs) (worker, error) {
		return parser.New(o.Config, env.Bus, specs, o.extractors...)
	})
}
