// Package panics converts panics to errors. A panic in a goroutine of a request would otherwise end
// the process with all its crawls.
package panics

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Error is a recovered panic.
type Error struct {
	Value any
	Stack []byte
}

// Error returns the value of the panic.
func (e *Error) Error() string {
	return fmt.Sprintf("internal error, please report it: panic: %v", e.Value)
}

// Catch calls do, and returns a panic as an *Error.
func Catch[T any](do func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{v, debug.Stack()}
		}
	}()
	return do()
}

// Caught returns a function that returns a panic of do as an *Error, for use in an errgroup.
func Caught(do func() error) func() error {
	return func() error {
		_, err := Catch(func() (struct{}, error) { return struct{}{}, do() })
		return err
	}
}

// Stack returns the stack of an *Error, nil for other errors.
func Stack(err error) []byte {
	if p, ok := errors.AsType[*Error](err); ok {
		return p.Stack
	}
	return nil
}
