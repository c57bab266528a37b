package contract

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Run makes the crawl, waits until it is complete, and checks it. It says what it is doing.
func (c *Crawl) Run(ctx context.Context, bus *stages.Bus, outputs map[string]Output, t *Tally, doing func(string)) error {
	doing(c.Name + " begins")
	if err := c.Feed(ctx, bus); err != nil {
		return err
	}
	counters, err := c.Await(ctx, bus, doing)
	if err != nil {
		return err
	}
	return c.Check(ctx, bus, counters, outputs, t, doing)
}

// Await waits until the crawl is complete, and returns what it has counted then.
func (c *Crawl) Await(ctx context.Context, bus *stages.Bus, doing func(string)) (frontierapi.Counters, error) {
	for pages := int64(0); ; {
		done, counters := c.ended(ctx, bus)
		pages = max(pages, counters.Pages) // none are told of while nobody answers, which is no movement
		doing(fmt.Sprintf("%s: %d of %d pages", c.Name, pages, len(c.pages)))
		if done {
			return counters, nil
		}
		if err := sleep.For(ctx, 500*time.Millisecond); err != nil {
			return counters, err //nolint:wrapcheck // an interrupt
		}
	}
}

// Check checks a crawl that is complete: its states, its requests, and what each output, by the name of its writer, has of it.
func (c *Crawl) Check(ctx context.Context, bus *stages.Bus, n frontierapi.Counters, outputs map[string]Output, t *Tally, doing func(string)) error {
	doing(c.Name + " is complete, checking")
	if err := c.checkStates(ctx, bus, n, t); err != nil {
		return err
	}
	c.CheckRequests(t)
	for name, out := range outputs {
		doing(c.Name + " is complete, waiting for " + name)
		if err := c.checkRecords(ctx, name, out, t); err != nil {
			return err
		}
	}
	t.crawled(len(c.pages))
	t.Progress(true)
	return nil
}

// CheckFiles compares all files of the outputs with their commit logs, when no writer runs any more. A frozen writer may leave a
// file in S3 that no entry names.
func CheckFiles(ctx context.Context, outputs map[string]Output, t *Tally) error {
	for name, out := range outputs {
		err := Insist(ctx, "verify the output "+name, func(ctx context.Context) error {
			bad, err := out.problems(ctx, name, "", !out.inBucket())
			if err == nil {
				t.judgeFiles(name, bad)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckDead takes note of dead letters: of the test web there must be none.
func CheckDead(ctx context.Context, bus *stages.Bus, t *Tally) error {
	return Insist(ctx, "look at "+messages.StreamDead, func(ctx context.Context) error {
		st, err := bus.JS.Stream(ctx, messages.StreamDead)
		if err != nil {
			return err //nolint:wrapcheck // by Insist
		}
		info, err := st.Info(ctx, jetstream.WithSubjectFilter(">"))
		if err != nil {
			return err //nolint:wrapcheck // by Insist
		}
		t.dead(int(info.State.Msgs), info.State.Subjects) //nolint:gosec // few
		return nil
	})
}
