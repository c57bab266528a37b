// Command frontier runs the frontier stage, which decides which URLs are fetched and when. It
// creates the streams that the other stages wait for.
package main

import (
	"cmp"
	"context"
	"os"
	"runtime/debug"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/fetch/secrets"
	"seine/internal/frontier/state"
	"seine/internal/ops/watchdog"
	"seine/internal/run/process"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
)

type options struct {
	process.Common
	frontier.Config
	Secrets string `help:"Directory with one file for each {secret:NAME} in the webhooks of specs. The environment variable SEINE_SECRET_NAME takes precedence." placeholder:"DIR"`
}

// Validate returns an error for the first invalid option.
func (o *options) Validate() error {
	return cmp.Or(o.Config.Validate(), secrets.Store{Folder: o.Secrets}.Validate())
}

// gcPercent makes the garbage collector run at about a third of the usual garbage. Most of a
// frontier's heap is long-lived hosts and filters, and twice their size would dominate its memory.
// It costs some 5 % of CPU time.
const gcPercent = 35

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	var o options
	os.Exit(process.Main(messages.StageFrontier, "Seine's frontier: deduplicates URLs and schedules requests.\n\n  frontier --nats nats://127.0.0.1:4222 --state ./frontier",
		&o, &o.Common, o.run))
}

// roomBytes is the memory that a frontier needs besides its caches and filters, including garbage:
// measured at ten million URLs.
const roomBytes = 280 << 20

// limitMemory sets a memory limit, so that the garbage collector works harder rather than let the
// process grow. The limit includes the caches and the filters, which grow with the crawl.
func (o *options) limitMemory(ctx context.Context) {
	for os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(roomBytes + int64(o.Cache) + int64(o.Known) + state.FilterBytes())
		if sleep.For(ctx, 10*time.Second) != nil {
			return
		}
	}
}

func (o *options) run(ctx context.Context, env process.Env) error {
	if err := frontier.Provision(ctx, o.Config, env.Bus); err != nil {
		return err
	}
	if o.SnapshotEvery > 0 {
		if err := state.QuarantineDamaged(o.State, env.Bus.Log); err != nil {
			return err
		}
	}
	store, err := state.OpenStore(o.State, int64(o.Cache), o.Sync, nil, env.Bus.Log)
	if err != nil {
		return err
	}
	defer store.Close()
	specs, stop, err := stages.FollowSpecs(ctx, env.Bus)
	if err != nil {
		return err
	}
	defer stop()
	f, err := frontier.New(o.Config, env.Bus, specs, store)
	if err != nil {
		return err
	}
	env.Health.Add("partitions", f.Ready)
	env.Vitals.AddDisk("state", o.State)
	if err := env.Started(""); err != nil {
		return err
	}
	go o.limitMemory(ctx)
	defer watchdog.New(env.Bus, specs, store.ID, secrets.Store{Folder: o.Secrets}).Start(ctx)()
	return f.Run(ctx)
}
