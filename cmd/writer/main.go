// Command writer runs the writer stage. Several share the partitions.
package main

import (
	"context"
	"os"

	"seine/internal/process"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

type options struct {
	process.Common
	writer.Config
}

func main() {
	var o options
	os.Exit(process.Main(messages.StageWriter, "Seine's writer: stores every record once.",
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
	if err := env.Started(""); err != nil {
		return err
	}
	return w.Run(ctx)
}
