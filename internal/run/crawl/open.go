package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/internal/base/stateencryption"
	"seine/internal/frontier/state"
	"seine/internal/run/connect"
	"seine/internal/run/embedded"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/parser"
)

// OpenStreams starts a server on the streams that an earlier crawl stored in a directory, with the
// key of their encryption. It fails if a crawl runs there, and waits while another command reads
// the directory. The returned function closes the connection and stops the server.
func OpenStreams(ctx context.Context, data, name string, key *stateencryption.Key, log *slog.Logger) (*stages.Bus, func(), error) {
	server, err := startServer(ctx, data, embedded.Options{Dir: filepath.Join(data, "nats"), Private: true, Key: key.NATS()})
	if err != nil {
		return nil, nil, err
	}
	connect.RemoveLocal(data) // left by a crawl that was killed
	bus, err := stages.Dial("", name, log, nats.InProcessServer(server.Server()))
	if err != nil {
		server.Stop()
		return nil, nil, err
	}
	return bus, func() { bus.Close(); server.Stop() }, nil
}

// Open opens the stored state of a crawl while do runs: the server, the frontier and the parser. do
// can read and change everything about the crawl, but nothing is requested or written. Open fails
// if a crawl runs in the directory.
func Open(ctx context.Context, data string, log *slog.Logger, do func(context.Context, *stages.Bus) error) (err error) {
	key, err := stateencryption.Open(data, "")
	if err != nil {
		return err
	}
	bus, end, err := OpenStreams(ctx, data, "seine", key, log)
	if err != nil {
		return err
	}
	defer end()
	joining, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	if err := bus.Join(joining); err != nil {
		return fmt.Errorf("%s: no crawl has begun there: %w", data, err)
	}
	if err := bus.RedeliverUnacked(ctx); err != nil { // the processes that held the messages are gone
		return err
	}
	cfg := frontier.DefaultConfig()
	cfg.State, cfg.Partitions, cfg.Take, cfg.SnapshotEvery = filepath.Join(data, "frontier"), bus.Layout.Partitions, frontier.TakeAll, 0
	cfg.Offline = true
	store, err := state.OpenStore(cfg.State, int64(cfg.Cache), cfg.Sync, key, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	specs, unfollow, err := stages.FollowSpecs(ctx, bus)
	if err != nil {
		return err
	}
	defer unfollow()
	readSpecs(ctx, specs)
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
		if err := settled(working, bus); err != nil {
			return err
		}
		return do(working, bus)
	})
	return g.Wait()
}

// joinTime is more than a server needs to load its streams; no process creates streams here.
const joinTime = 5 * time.Second

// openWithin bounds how long a command that reads the stored state may delay the start of a crawl.
const openWithin = 20 * time.Second

// startServer starts the embedded server of a directory. It waits while another command reads the
// stored state, and fails at once if a crawl runs there.
func startServer(ctx context.Context, data string, o embedded.Options) (*embedded.Server, error) {
	for began := time.Now(); ; {
		s, err := embedded.Start(o)
		if !errors.Is(err, embedded.ErrInUse) || connect.HasLocal(data) || time.Since(began) > openWithin {
			return s, err
		}
		if sleep.For(ctx, deletionPoll) != nil {
			return nil, err
		}
	}
}

// settleTime bounds the wait for the frontier to replay the streams. After it, a command gets the
// state so far: checking many URLs against a changed spec may take long.
const settleTime = 5 * time.Second

// readSpecs waits until all stored specs are read. A spec that arrives later makes the frontier
// check its crawl again.
func readSpecs(ctx context.Context, specs *stages.Specs) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	_ = specs.AllRead(ctx)
}

// settled waits until the frontier has replayed the streams of every partition and answers
// requests.
func settled(ctx context.Context, bus *stages.Bus) error {
	for began := time.Now(); ; {
		done, err := frontierapi.Client{Bus: bus}.Settled(ctx)
		if err != nil && !errors.Is(err, frontierapi.ErrUnanswered) {
			return err
		}
		if err == nil && (done || time.Since(began) > settleTime) {
			return nil
		}
		if err := sleep.For(ctx, openPoll); err != nil {
			return err
		}
	}
}

// openPoll is the interval between checks whether the frontier has settled.
const openPoll = 10 * time.Millisecond
