// Command fetcher runs the fetcher stage. Any number may run side by side.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher"
)

type options struct {
	process.Common
	fetcher.Config
}

// gcPercent lets the collector run half as often as usual: little of a fetcher's
// heap stays, and limitMemory bounds the rest.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	var o options
	os.Exit(process.Main(messages.StageFetcher, "Seine's fetcher: fetches what is due and tells the truth about it.\n\n  fetcher --nats nats://127.0.0.1:4222 --workers 128",
		&o, &o.Common, o.run))
}

// limitMemory makes the collector work harder rather than let the process grow
// past what its flags allow.
func (o *options) limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(o.Memory())
	}
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
	o.limitMemory()
	s, err := fetcher.New(o.Config, env.Bus, specs)
	if err != nil {
		return err
	}
	if err := env.Started(""); err != nil {
		return err
	}
	return s.Run(ctx)
}
