package contract

import (
	"context"
	"errors"
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
	for {
		done, counters := c.Look(ctx, bus, doing)
		if done {
			return counters, nil
		}
		if err := sleep.For(ctx, 500*time.Millisecond); err != nil {
			return counters, err // an interrupt
		}
	}
}

// Look asks once whether the crawl is complete, and what it has counted.
func (c *Crawl) Look(ctx context.Context, bus *stages.Bus, doing func(string)) (done bool, n frontierapi.Counters) {
	done, n = c.ended(ctx, bus)
	c.most = max(c.most, n.Pages) // none are told of while nobody answers, which is no movement
	doing(fmt.Sprintf("%s: %d of %d pages", c.Name, c.most, len(c.pages)))
	return done, n
}

// CheckAgain checks that a crawl which was complete and checked is still so: nothing of it is open, and no output has another number of
// its records. Its web need not be there any more.
func (c *Crawl) CheckAgain(ctx context.Context, bus *stages.Bus, outputs map[string]Output, t *Tally) error {
	var n frontierapi.Counters
	err := Insist(ctx, c.Name+" is complete no more", func(ctx context.Context) (err error) {
		done := false
		if done, n = c.ended(ctx, bus); !done {
			err = errOpen
		}
		return err
	})
	if errors.Is(err, errOpen) {
		t.Violation("%v", err)
	} else if err != nil {
		return err
	}
	if err := c.checkStates(ctx, bus, n, t); err != nil {
		return err
	}
	for name, out := range outputs {
		got, err := out.committed(name, c.Name)
		if err != nil {
			return err
		}
		t.judgeAgain(c.Name+" in "+name, got.n-c.counted[name])
	}
	return nil
}

var errOpen = errors.New("it is not told to be")

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
			return err
		}
		info, err := st.Info(ctx, jetstream.WithSubjectFilter(">"))
		if err != nil {
			return err
		}
		t.dead(int(info.State.Msgs), info.State.Subjects) //nolint:gosec // few
		return nil
	})
}
