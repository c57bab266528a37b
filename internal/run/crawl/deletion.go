package crawl

import (
	"context"
	"errors"
	"time"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// ErrDeleted is returned when the crawl is deleted while it runs.
var ErrDeleted = errors.New("the crawl was deleted while it ran")

// deleted returns the deletion of the crawl since it began, nil if there is none.
func (c *crawl) deleted() *messages.Deletion {
	if d := c.specs.Deletion(c.Crawl); d != nil && d.Rev > c.since {
		return d
	}
	return nil
}

const (
	deletionPoll = 100 * time.Millisecond
	// toldWithin is how long the command that deletes the crawl may need to learn that it is
	// done, from the embedded server that is about to end.
	toldWithin = 2 * time.Second
)

// finishDeletion lets the stages work until nothing is left of the crawl, or ctx is
// done: what is left then goes when something runs on the state again. Open files are
// finished, since records in them are still in the streams. With a server elsewhere
// others continue with it.
func (c *crawl) finishDeletion(ctx, stagesDone context.Context) {
	if c.server == nil {
		return
	}
	for d := c.deleted(); d != nil && !d.Done; d = c.deleted() {
		for _, w := range c.writers {
			w.Flush()
		}
		if stagesDone.Err() != nil || c.fatalCondition() != nil || sleep.For(ctx, deletionPoll) != nil {
			return
		}
	}
	_ = sleep.For(ctx, toldWithin)
}
