package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"seine/bench/proc"
	"seine/internal/base/sleep"
	"seine/internal/output"
	"seine/internal/output/dir"
	"seine/internal/testing/outputtest"
	"seine/pkg/messages"
)

// roundStats are of one round.
type roundStats struct {
	rate      float64 // records a second
	cpu, nats float64 // seconds
	rss       float64 // MB
}

// write has a new writer write everything, and checks what it wrote.
func (b *bench) write(ctx context.Context, r *broker) (f roundStats, err error) {
	b.round++
	name := "r" + strconv.Itoa(b.round)
	out, state := filepath.Join(b.work, name, "out"), filepath.Join(b.work, name, "state")
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Join(b.work, name))) }()
	ctx, cancel := context.WithTimeout(ctx, roundTime)
	defer cancel()
	before, err := proc.CPU(r.nats.PID())
	if err != nil {
		return f, err
	}
	start := time.Now()
	args := []string{"--nats", r.url, "--out", out, "--state", state, "--format", b.Format, "--name", name, "--listen", "127.0.0.1:0", "--log-level", "warn"}
	p, err := proc.Start(b.fail, b.work, filepath.Join(b.bin, "writer"), append(args, strings.Fields(b.Args)...)...)
	if err != nil {
		return f, err
	}
	defer p.Stop(false)
	if err := r.await(ctx, name); err != nil {
		return f, err
	}
	if f.cpu, err = proc.CPU(p.PID()); err != nil {
		return f, err
	}
	_, peak, err := proc.Memory(p.PID())
	if err != nil {
		return f, err
	}
	p.Stop(true)
	took := time.Since(start)
	after, err := proc.CPU(r.nats.PID())
	f.rate, f.nats, f.rss = float64(b.Records)/took.Seconds(), after-before, proc.MB(peak)
	return f, errors.Join(err, b.check(out, name))
}

// onTheWay is how long what the server has sent may be on its way.
const onTheWay = 200 * time.Millisecond

// await returns when the writer has read all: what is not committed then is when it stops.
func (r *broker) await(ctx context.Context, name string) error {
	for {
		left, consumers := uint64(0), 0
		all, err := r.bus.Consumers(ctx, messages.StreamRecords)
		if err != nil {
			return err
		}
		for _, c := range all {
			if strings.HasPrefix(c.Name, "writer-"+name+"-") {
				left += c.NumPending
				consumers++
			}
		}
		if consumers == messages.DefaultPartitions && left == 0 {
			return sleep.For(ctx, onTheWay)
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%d records are left, %d consumers: %w", left, consumers, err)
		}
	}
}

// check verifies that every record was written, once.
func (b *bench) check(out, name string) error {
	log, err := dir.Read(out, name)
	if err != nil {
		return fmt.Errorf("read the output: %w", err)
	}
	written := output.Output{Log: log}
	if err := outputtest.Verify(written); err != nil {
		return err
	}
	seen, records := make(map[string]bool, b.Records), 0
	err = written.Commits(func(c *output.Commit) error {
		records += c.Records()
		for v := c.Visits; len(v) > 0; v = v[output.IdentitySize:] {
			seen[string(v[:output.IdentitySize])] = true
		}
		return nil
	})
	if err == nil && (records != b.Records || len(seen) != b.Records) {
		err = fmt.Errorf("%d records are in the output, %d different ones, of %d", records, len(seen), b.Records)
	}
	return err
}
