package stages

import (
	"errors"
	"time"

	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// An error of a handler is either transient or poison. After a transient error the message is
// returned, and redelivered after retryWait. Poison means that no attempt will succeed, and the
// message goes to DEAD. There are no permanent errors: a page that can never be fetched is a normal
// result, which the handler returns as output.

// retryWait is the delay before a message is redelivered.
const retryWait = 2 * time.Second

// maxRetryWait bounds the delay of a message that waits for servers. With messages.MaxCrashes
// deliveries, a part of the cluster may be down for 40 minutes.
const maxRetryWait = 2 * time.Minute

// retryAfter returns the delay before the next delivery of a message that failed with err; ok is
// false if the last delivery was the final one. If servers are unavailable or the crawl's spec is
// unusable, the message is not at fault: it is retried with a growing delay instead.
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

// IsPoison reports whether err was marked by PoisonError. Other errors are transient: the last
// delivery turns them into dead letters.
func IsPoison(err error) bool {
	_, ok := errors.AsType[*poisonError](err)
	return ok
}
