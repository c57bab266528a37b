package stages

import (
	"errors"
	"time"

	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// What a handler returns as an error is transient: the message is given back, and
// delivered again after retryWait; or poison: no attempt will succeed, and it goes
// to DEAD. There is no "permanent": a page that will never be fetched is a result
// like any other, and the handler returns it as output.

// retryWait is the wait before a message is delivered again.
const retryWait = 2 * time.Second

// maxRetryWait bounds that for a message that waits for servers: with
// messages.MaxCrashes deliveries, a part of the cluster may be away for 40 minutes.
const maxRetryWait = 2 * time.Minute

// retryAfter is how long a message waits after so many deliveries that failed with
// err; ok is false if it was the last. What fails because servers are not there is
// not the fault of the message, nor what a spec is to blame for: it waits longer each time
// instead.
func retryAfter(err error, deliveries uint64) (wait time.Duration, ok bool) {
	switch {
	case IsPoison(err):
		return 0, false
	case jsclient.Unavailable(err), errors.Is(err, crawlspec.ErrStandsStill):
		return min(retryWait<<min(deliveries-1, 10), maxRetryWait), true
	}
	return retryWait, deliveries < messages.MaxDeliver
}

type poisonError struct{ err error }

func (e *poisonError) Error() string { return e.err.Error() }
func (e *poisonError) Unwrap() error { return e.err }

// PoisonError marks err as one that will happen at every attempt.
func PoisonError(err error) error { return &poisonError{err} }

// IsPoison reports whether err was marked so. Another is transient: the last
// delivery turns it into a dead letter.
func IsPoison(err error) bool {
	_, ok := errors.AsType[*poisonError](err)
	return ok
}
