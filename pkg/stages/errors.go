package stages

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what becomes of a message whose handler returned an error.
type Kind int

// Kinds of errors. There is none for "permanent": a page that will never be
// fetched is a result like any other, and the handler returns it as output.
const (
	// Transient: give the message back, to be delivered again after a wait.
	Transient Kind = iota
	// Poison: no attempt will succeed. The message goes to DEAD.
	Poison
	// Fatal: this process cannot go on. The message is left for another.
	Fatal
)

type kindError struct {
	kind Kind
	wait time.Duration
	err  error
}

func (e *kindError) Error() string { return e.err.Error() }
func (e *kindError) Unwrap() error { return e.err }

// DefaultWait is the wait before a message is delivered again, where the error
// does not say another.
const DefaultWait = 2 * time.Second

// TransientError marks err as one that may not happen again after wait.
func TransientError(wait time.Duration, err error) error { return &kindError{Transient, wait, err} }

// PoisonError marks err as one that will happen at every attempt.
func PoisonError(err error) error { return &kindError{Poison, 0, err} }

// FatalError marks err as one that the process cannot go on with.
func FatalError(err error) error { return &kindError{Fatal, 0, err} }

// KindOf returns the kind of err and the wait it asks for. An error that was
// not marked is transient: the last delivery turns it into a dead letter.
func KindOf(err error) (Kind, time.Duration) {
	if e, ok := errors.AsType[*kindError](err); ok {
		return e.kind, e.wait
	}
	return Transient, DefaultWait
}

// panicked turns what a handler panicked with into poison: the same message
// would make the next process panic as well.
func panicked(v any, stack []byte) error {
	return PoisonError(fmt.Errorf("handler panicked: %v\n%s", v, stack))
}
