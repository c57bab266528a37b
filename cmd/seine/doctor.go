package main

import (
	"context"
	"time"

	"seine/internal/base/safeprint"
	"seine/internal/ops/doctor"
	"seine/pkg/stages"
)

type doctorCmd struct {
	connection
	JSON    bool   `name:"json" help:"Print one JSON object per finding."`
	Browser string `help:"Chromium of the renderers on this machine (default: from PATH)." placeholder:"PATH"`
}

// Help is shown below the list of flags.
func (c *doctorCmd) Help() string {
	return `Checks the NATS server and account limits, the stages, the configuration of streams, buckets and consumers, free space in streams,
partition owners, clocks, specs, dead letters, renderers and limits, and prints how to fix each fault.

  seine doctor --nats nats://nats.example:4222

Exit codes: 0 no faults (warnings possible), 1 a fault, or NATS is not reachable.`
}

// joinTime is how long the streams may take to answer before the other checks run.
const joinTime = 3 * time.Second

// Run checks the cluster and prints the findings.
func (c *doctorCmd) Run() error {
	return c.withServer("doctor", func(ctx context.Context, bus *stages.Bus) error {
		var findings []doctor.Finding
		joining, stop := context.WithTimeout(ctx, joinTime)
		defer stop()
		if err := c.joined(joining, bus, func(context.Context, *stages.Bus) error { return nil }); err != nil {
			if bus.Refusals.Err() != nil {
				return err
			}
			bus.Layout, _ = bus.Existing(ctx)
			findings = append(findings, doctor.Finding{Level: doctor.Fail, Check: "join", What: err.Error(), Do: "start a frontier, which creates what is missing"})
		}
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		findings = append(findings, doctor.Examine(ctx, bus, c.Browser)...)
		for _, f := range findings {
			if c.JSON {
				if err := printJSON(f); err != nil {
					return err
				}
				continue
			}
			safeprint.Printf("%-4s  %s: %s\n", f.Level, f.Check, f.What)
			if f.Do != "" {
				safeprint.Printf("      %s\n", f.Do)
			}
		}
		if doctor.Worst(findings) == doctor.Fail {
			return endError(exitFailed)
		}
		return nil
	})
}
