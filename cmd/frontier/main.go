// Command frontier runs the frontier stage: it decides what is fetched and
// when. It creates the streams that the other stages wait for.
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

// Validate names the first option that is wrong.
func (o *options) Validate() error {
	return cmp.Or(o.Config.Validate(), secrets.Store{Folder: o.Secrets}.Validate())
}

// gcPercent makes the collector run at a third of the usual garbage: most of a
// frontier's heap are hosts and filters that stay, and twice their size would be
// the largest part of its memory. It costs some 5 % of its time.
const gcPercent = 35

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	var o options
	os.Exit(process.Main(messages.StageFrontier, "Seine's frontier: deduplicates URLs and schedules requests.\n\n  frontier --nats nats://127.0.0.1:4222 --state ./frontier",
		&o, &o.Common, o.run))
}

// roomBytes is what a frontier needs beside its caches and filters, garbage
// included: measured at ten million URLs.
const roomBytes = 280 << 20

// limitMemory makes the collector work harder rather than let the process grow:
// past its caches and its filters, which grow with the crawl.
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
