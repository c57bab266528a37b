// Command parser runs the parser stage. Any number may run side by side.
package main

import (
	"context"
	"os"

	"seine/internal/process"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/parser"
)

type options struct {
	process.Common
	parser.Config
}

func main() {
	var o options
	os.Exit(process.Main(messages.StageParser, "Seine's parser: turns pages into records and links.",
		&o, &o.Common, o.run))
}

func (o *options) run(ctx context.Context, env process.Env) error {
	if err := env.Bus.Join(ctx); err != nil {
		return err
	}
	specs, stop, err := stages.FollowSpecs(ctx, env.Bus)
	if err != nil {
		return err
	}
	defer stop()
	s, err := parser.New(o.Config, env.Bus, specs)
	if err != nil {
		return err
	}
	if err := env.Started(); err != nil {
		return err
	}
	return s.Run(ctx)
}
