package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/lazyregexp"
	"seine/internal/run/process"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// StageConfig describes a custom stage.
type StageConfig struct {
	// Name of the stage: lower-case letters, digits and hyphens. Its processes share a durable
	// consumer with this name, and messages that they cannot handle go to DEAD under it.
	Name string
	// About is the text above the flags in --help.
	About string
	// Stream is the stream to read, such as messages.StreamRecords. A new stage begins with the
	// oldest message of the stream.
	Stream string
	// Subject filters the stream, such as "seine.records.news.*"; "" reads all of it.
	Subject string
	// Handle handles a message, and returns the messages to publish before it is acknowledged. Each
	// message of a batch is handled separately. Handle is called from several goroutines, may be
	// called again with the same message, and must return when ctx is done. After an error the
	// message, or its batch, is redelivered, and goes to DEAD after five tries; after
	// stages.PoisonError only the message goes there.
	Handle func(ctx context.Context, m *stages.Message) ([]*nats.Msg, error)
}

var validName = lazyregexp.New(`^[a-z][a-z0-9-]{0,63}$`)

// Stage runs a stage as a command, with the options of the process, and returns its exit code. It
// waits for NATS and for a frontier, serves metrics and health, and finishes in-flight messages at
// the first signal. It returns 2 for an invalid StageConfig.
func Stage(c StageConfig) int {
	o := stageOptions{config: c}
	return process.Main(c.Name, c.About, &o, &o.Common, o.run)
}

type stageOptions struct {
	process.Common
	Workers  int                `help:"Messages handled concurrently; 0 uses two per processor." default:"0"`
	Prefetch int                `help:"Messages buffered in memory." default:"32"`
	Drain    crawlspec.Duration `help:"Time to finish in-flight work after the first signal." default:"20s"`
	config   StageConfig
}

// Validate returns an error for an invalid StageConfig, or for the first invalid flag.
func (o *stageOptions) Validate() error {
	_, ours := messages.NamedConsumer(o.config.Stream, o.config.Name)
	switch {
	case !validName().MatchString(o.config.Name):
		return fmt.Errorf("name %q of the stage: must be lower-case letters, digits and hyphens, and begin with a letter", o.config.Name)
	case ours:
		return fmt.Errorf("name %q of the stage: is the name of a consumer of Seine", o.config.Name)
	case o.config.Stream == "" || o.config.Handle == nil:
		return errors.New("the StageConfig needs a Stream and a Handle")
	case o.Workers < 0 || o.Workers > 1024:
		return fmt.Errorf("--workers %d: must be from 0 to 1024", o.Workers)
	case o.Prefetch < 0 || o.Prefetch > 4096:
		return fmt.Errorf("--prefetch %d: must be from 0 to 4096", o.Prefetch)
	}
	return nil
}

func (o *stageOptions) run(ctx context.Context, env process.Env) error {
	if err := env.Bus.Join(ctx); err != nil {
		return err
	}
	if err := env.Started(""); err != nil {
		return err
	}
	r := stages.Runner{
		Stage: o.config.Name, Bus: env.Bus, Stream: o.config.Stream,
		Consumer: messages.WorkConsumer(o.config.Name, o.config.Subject, 4096),
		Workers:  cmp.Or(o.Workers, 2*runtime.GOMAXPROCS(0)), Prefetch: o.Prefetch, Drain: time.Duration(o.Drain),
		Handle: o.config.split,
	}
	return r.Run(ctx)
}

// split handles each message of a batch separately. A poison message does not affect the others.
func (c *StageConfig) split(ctx context.Context, m *stages.Message) (out stages.Output, err error) {
	parts, err := m.Parts()
	if err != nil {
		return out, stages.PoisonError(err)
	}
	for _, part := range parts {
		msgs, err := c.Handle(ctx, part)
		switch {
		case err == nil:
		case len(parts) > 1 && stages.IsPoison(err):
			msgs = []*nats.Msg{stages.DeadLetter(c.Name, part, err)}
		default:
			return stages.Output{}, err
		}
		out.First = append(out.First, msgs...)
	}
	return out, nil
}
