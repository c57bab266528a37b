package crawl

import (
	"errors"
	"fmt"
	"time"

	"seine/internal/output"
)

// patience is how long the place of an output may be away before the crawl ends: as long
// as a database or an S3 server takes to start again.
const patience = time.Minute

// writerTrouble returns why a writer cannot write, and what becomes of what it has not
// written; nil if it may soon write again by itself.
func (c *crawl) writerTrouble() error {
	for _, w := range c.writers {
		if err, since := w.Trouble(); err != nil && !passes(err, since) {
			return fmt.Errorf("%w (nothing is lost: when that is mended, the same command goes on, and writes what is missing)", err)
		}
	}
	return nil
}

// passes reports whether trouble since a moment may pass by itself.
func passes(err error, since time.Time) bool {
	return errors.Is(err, output.ErrAway) && time.Since(since) < patience
}
