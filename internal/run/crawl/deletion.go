package crawl

import (
	"context"
	"errors"
	"time"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// ErrDeleted is returned if the crawl is deleted during the run.
var ErrDeleted = errors.New("the crawl was deleted while it ran")

// deleted returns the deletion of the crawl during this run, nil if there is none.
func (c *crawl) deleted() *messages.Deletion {
	if d := c.specs.Deletion(c.Crawl); d != nil && d.Rev > c.since {
		return d
	}
	return nil
}

const (
	deletionPoll = 100 * time.Millisecond
	// deletionGrace is how long the embedded server keeps running after a deletion, so that the
	// deleting command can learn the result.
	deletionGrace = 2 * time.Second
)

// finishDeletion lets the stages work until the crawl is deleted or ctx is done; the next process
// that opens the state deletes the rest. It flushes the writers, because records in open files are
// still in the streams. With an external server, other processes finish the deletion.
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
	_ = sleep.For(ctx, deletionGrace)
}
