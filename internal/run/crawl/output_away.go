package crawl

import (
	"errors"
	"fmt"
	"time"

	"seine/internal/output"
)

// maxOutage is how long a destination may be unavailable before the crawl ends. A database or an S3
// server can restart within it.
const maxOutage = time.Minute

// trouble returns the error of a writer that needs a fix. It returns nil for errors that may pass
// by themselves.
func (o outputs) trouble() error {
	for _, w := range o.writers {
		if since, err := w.Trouble(); err != nil && !passes(err, since) {
			return notLost(err)
		}
	}
	return nil
}

// ended returns the error that ended the stages. A writer's error takes precedence, with the note
// that nothing is lost.
func (o outputs) ended(err error) error {
	for _, w := range o.writers {
		if trouble := w.Err(); trouble != nil {
			return notLost(trouble)
		}
	}
	if errors.Is(err, output.ErrAway) { // before the writer opened its partitions
		return notLost(err)
	}
	return err
}

// notLost adds to a writer's error that no record is lost.
func notLost(err error) error {
	return fmt.Errorf("%w (nothing is lost; fix the cause and run the same command again to write the missing records)", err)
}

// passes reports whether an error since a given time may still pass by itself.
func passes(err error, since time.Time) bool {
	return errors.Is(err, output.ErrAway) && time.Since(since) < maxOutage
}
