// Package outputtest checks committed output in tests.
package outputtest

import (
	"context"
	"errors"

	"seine/internal/output"
)

// Verify checks every file that the commit log names: that it is there, its
// size, and its SHA-256, and that no two entries have the same messages. It
// returns all that is wrong.
func Verify(o output.Output) error {
	e, err := o.Expect("")
	if err != nil {
		return err
	}
	if _, own := o.Log.(output.Verifier); !own {
		o.Log = justLog{o.Log}
	}
	r, err := o.Check(context.Background(), e)
	errs := []error{err}
	for _, p := range r.Problems {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// justLog is a log whose place is not listed.
type justLog struct{ output.Log }
