// Command writer runs the writer stage. Several processes share the partitions.
package main

import (
	"context"
	"os"

	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

type options struct {
	process.Common
	writer.Config
	Dry bool `name:"dry-run" help:"Check the destination and print what would be written where; write nothing."`
}

// DryRun implements process.DryRunner, with writer.Config.WriteDryRun.
func (o *options) DryRun() bool { return o.Dry }

// Help is shown below the list of flags.
func (o *options) Help() string { return writer.Help }

func main() {
	var o options
	os.Exit(process.Main(messages.StageWriter, "Seine's writer: writes each record exactly once to the output.\n\n  writer --nats nats://127.0.0.1:4222 --out ./seine-out --state ./writer",
		&o, &o.Common, o.run))
}

func (o *options) run(ctx context.Context, env process.Env) error {
	if err := env.Bus.Join(ctx); err != nil {
		return err
	}
	w, err := writer.New(o.Config, env.Bus)
	if err != nil {
		return err
	}
	env.Health.Add("sink", w.Err)
	env.Health.Add("lag", w.Lagging)
	env.Vitals.WaitsBy(w.Waiting)
	env.Vitals.AddDisk("state", o.State)
	if dir := o.Directory(); dir != "" {
		env.Vitals.AddDisk("out", dir)
	}
	if err := env.Started(o.Name); err != nil {
		return err
	}
	return w.Run(ctx)
}
