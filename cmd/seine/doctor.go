package main

import (
	"context"
	"encoding/json"
	"time"

	"seine/internal/base/safeprint"
	"seine/internal/ops/doctor"
	"seine/pkg/stages"
)

type doctorCmd struct {
	connection
	JSON    bool   `name:"json" help:"Print JSON, an object for each finding."`
	Browser string `help:"Chromium that renderers on this machine would use, as a path; one on the PATH otherwise." placeholder:"PATH"`
}

// Help is shown below the list of flags.
func (c *doctorCmd) Help() string {
	return `It checks the server and the limits of the account, that all stages run, the configuration of streams, buckets and
consumers, the room in the streams, the owners of partitions, clocks, specs, dead letters, who shows pages in a browser,
and limits, and says what to do.

  seine doctor --nats nats://nats.example:4222

Exit codes: 0 nothing is wrong (there may be warnings), 1 something does not work, or NATS cannot be reached.`
}

// joinTime is how long the streams may take to answer before the rest is looked at.
const joinTime = 3 * time.Second

// Run looks for what is wrong.
func (c *doctorCmd) Run() error {
	return c.withServer("doctor", func(ctx context.Context, bus *stages.Bus) error {
		var findings []doctor.Finding
		joining, stop := context.WithTimeout(ctx, joinTime)
		defer stop()
		if err := c.joined(joining, bus, func(context.Context, *stages.Bus) error { return nil }); err != nil {
			if bus.PermissionErr() != nil {
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
				if err := json.NewEncoder(dataOut()).Encode(f); err != nil {
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
