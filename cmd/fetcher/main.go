// Command fetcher runs the fetcher stage. Any number may run side by side.
package main

import (
	"context"
	"os"

	"seine/internal/process"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
)

type options struct {
	process.Common
	fetcher.Config
}

func main() {
	var o options
	os.Exit(process.Main(messages.StageFetcher, "Seine's fetcher: fetches what is due and tells the truth about it.",
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
	s, err := fetcher.New(o.Config, env.Bus, specs)
	if err != nil {
		return err
	}
	if err := env.Started(); err != nil {
		return err
	}
	return s.Run(ctx)
}
