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

// trouble returns why a writer cannot write, and what becomes of what it has not
// written; nil if it may soon write again by itself.
func (o outputs) trouble() error {
	for _, w := range o.writers {
		if since, err := w.Trouble(); err != nil && !passes(err, since) {
			return notLost(err)
		}
	}
	return nil
}

// ended returns the error by which the stages have ended; if it is that of a writer which could
// not write all there was, with what becomes of that.
func (o outputs) ended(err error) error {
	for _, w := range o.writers {
		if trouble := w.Err(); trouble != nil {
			return notLost(trouble)
		}
	}
	if errors.Is(err, output.ErrAway) { // before the writer came to its partitions
		return notLost(err)
	}
	return err
}

// notLost adds to an error of a writer what becomes of what it has not written.
func notLost(err error) error {
	return fmt.Errorf("%w (nothing is lost; fix the cause and run the same command again to write the missing records)", err)
}

// passes reports whether trouble since a moment may pass by itself.
func passes(err error, since time.Time) bool {
	return errors.Is(err, output.ErrAway) && time.Since(since) < patience
}
