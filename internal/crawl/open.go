package crawl

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"seine/internal/connect"
	"seine/internal/embedded"
	"seine/internal/statekey"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/parser"
)

// Open opens what an earlier crawl has stored in a directory, for as long as do takes:
// the server, the frontier and the parser, so that everything of a crawl can be changed
// but nothing is requested and nothing written. It fails if a crawl is running there.
func Open(ctx context.Context, data string, log *slog.Logger, do func(context.Context, *stages.Bus) error) (err error) {
	key, err := statekey.Open(data, "")
	if err != nil {
		return err
	}
	server, err := startServer(ctx, data, embedded.Options{Dir: filepath.Join(data, "nats"), Private: true, Key: key.NATS()})
	if err != nil {
		return err
	}
	defer server.Stop()
	connect.RemoveLocal(data) // it was left by a crawl that was killed
	bus, err := stages.Dial("", "seine", log, nats.InProcessServer(server.Server()))
	if err != nil {
		return err
	}
	defer bus.Close()
	if err := bus.Join(ctx); err != nil {
		return err
	}
	if err := bus.Release(ctx); err != nil { // whoever held messages is gone
		return err
	}
	cfg := frontier.DefaultConfig()
	cfg.State, cfg.Partitions, cfg.Take, cfg.SnapshotEvery = filepath.Join(data, "frontier"), bus.Layout.Partitions, frontier.TakeAll, 0
	store, err := frontier.OpenStore(cfg.State, int64(cfg.Cache), cfg.Sync, key, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	specs, unfollow, err := stages.FollowSpecs(ctx, bus)
	if err != nil {
		return err
	}
	defer unfollow()
	f, err := frontier.New(cfg, bus, specs, store)
	if err != nil {
		return err
	}
	p, err := parser.New(parser.DefaultConfig(), bus, specs)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	working, stop := context.WithCancel(gctx)
	defer stop()
	g.Go(func() error { return f.Run(working) })
	g.Go(func() error { return p.Run(working) })
	g.Go(func() error {
		defer stop()
		if err := answers(working, bus); err != nil {
			return err
		}
		return do(working, bus)
	})
	return g.Wait()
}

// openWithin is how long a command that looks into what is stored may keep a crawl
// from starting.
const openWithin = 20 * time.Second

// startServer starts the embedded server of a directory. While another command looks
// into what is stored there, it waits; a crawl that runs there says so at once.
func startServer(ctx context.Context, data string, o embedded.Options) (*embedded.Server, error) {
	for began := time.Now(); ; {
		s, err := embedded.Start(o)
		if !errors.Is(err, embedded.ErrInUse) || connect.HasLocal(data) || time.Since(began) > openWithin {
			return s, err
		}
		if stages.Sleep(ctx, deletionPoll) != nil {
			return nil, err
		}
	}
}

// answers waits until the frontier answers questions about every partition.
func answers(ctx context.Context, bus *stages.Bus) error {
	client := frontier.Client{Bus: bus}
	for {
		_, err := client.Status(ctx, "none")
		if err == nil || !errors.Is(err, frontier.ErrUnanswered) {
			return err
		}
		if err := stages.Sleep(ctx, deletionPoll); err != nil {
			return err
		}
	}
}
