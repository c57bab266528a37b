package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// broker is a nats-server whose RECORDS hold what is to be written.
type broker struct {
	url  string
	nats *proc.Process
	bus  *stages.Bus
}

// Times that things may take.
const (
	startTime = 30 * time.Second
	roundTime = 5 * time.Minute
)

func (b *bench) startBroker(ctx context.Context, lines string) (r *broker, err error) {
	ports, err := proc.FreePorts(1)
	if err != nil {
		return nil, err
	}
	r = &broker{url: "nats://127.0.0.1:" + ports[0]}
	r.nats, err = proc.Start(b.fail, b.work, filepath.Join(b.bin, proc.NATSServer),
		proc.NATSArgs(b.bin, filepath.Join(b.work, "nats"), ports[0])...)
	if err != nil {
		return nil, err
	}
	if err = r.provision(ctx, sizeOf(lines)); err == nil {
		err = r.fill(ctx, b.Records)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *broker) provision(ctx context.Context, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	for r.bus == nil {
		bus, err := stages.Dial(r.url, "write-bench", log)
		if err == nil {
			r.bus = bus
		} else if sleep.For(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("connect to NATS: %w", err)
		}
	}
	limits := messages.DefaultStreamLimits()
	limits.RecordsBytes = 2*size + 1<<30
	if err := r.bus.Provision(ctx, messages.DefaultPartitions, limits, 1); err != nil {
		return fmt.Errorf("make the streams: %w", err)
	}
	return nil
}

// fill publishes the records, partition by partition in turn.
func (r *broker) fill(ctx context.Context, n int) error {
	const batch = 256
	pub := stages.NewPublisher(r.bus, "bench")
	msgs := make([]*nats.Msg, 0, batch)
	for i := range n {
		msgs = append(msgs, record(i).Msg(i%messages.DefaultPartitions))
		if len(msgs) < batch && i < n-1 {
			continue
		}
		if err := pub.Publish(ctx, msgs...); err != nil {
			return fmt.Errorf("publish records: %w", err)
		}
		msgs = msgs[:0]
	}
	return nil
}

func (r *broker) close() {
	if r.bus != nil {
		r.bus.Close()
	}
	r.nats.Stop(false)
}
