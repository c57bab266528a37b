package main

import (
	"context"
	"encoding/json"

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
	return `It checks the server, that all stages run, the room in the streams, the owners of partitions, clocks, specs, dead letters,
who shows pages in a browser, and limits, and says what to do.

  seine doctor --nats nats://nats.example:4222

Exit codes: 0 nothing is wrong (there may be warnings), 1 something does not work, or NATS cannot be reached.`
}

// Run looks for what is wrong.
func (c *doctorCmd) Run() error {
	return c.withRunning("doctor", func(ctx context.Context, bus *stages.Bus) error {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		findings, err := doctor.Examine(ctx, bus, c.Browser)
		if err != nil {
			return err
		}
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
