// Package outputtest checks committed output in tests.
package outputtest

import (
	"context"
	"errors"

	"seine/internal/output"
)

// Verify checks every file in the commit log: its existence, its size, its SHA-256, and that no two
// entries have the same messages. It returns all problems.
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

// justLog hides the methods of a log other than those of output.Log, so that its destination is not
// listed.
type justLog struct{ output.Log }
