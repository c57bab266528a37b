package command

import (
	"context"

	"seine/internal/run/process"
	"seine/pkg/stages"
)

// worker is a stage that runs until ctx is done.
type worker interface {
	Run(ctx context.Context) error
}

// work waits for the streams, follows the specs of all crawls, and runs the stage that open
// returns.
func work(ctx context.Context, env process.Env, open func(*stages.Specs) (worker, error)) error {
	if err := env.Bus.Join(ctx); err != nil {
		return err
	}
	specs, stop, err := stages.FollowSpecs(ctx, env.Bus)
	if err != nil {
		return err
	}
	defer stop()
	w, err := open(specs)
	if err != nil {
		return err
	}
	if err := env.Started(""); err != nil {
		return err
	}
	return w.Run(ctx)
}
