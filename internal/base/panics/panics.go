// Package panics turns panics into errors: one in a goroutine that a request started would end the process with all its crawls.
package panics

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Error is a panic that was recovered.
type Error struct {
	Value any
	Stack []byte
}

// Error returns the value of the panic.
func (e *Error) Error() string {
	return fmt.Sprintf("internal error, please report it: panic: %v", e.Value)
}

// Catch calls a function, and returns a panic of it as an *Error.
func Catch[T any](do func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{v, debug.Stack()}
		}
	}()
	return do()
}

// Caught returns a function that returns a panic of do as an *Error, for a goroutine of a group.
func Caught(do func() error) func() error {
	return func() error {
		_, err := Catch(func() (struct{}, error) { return struct{}{}, do() })
		return err
	}
}

// Stack returns the stack of the panic that an error is, nil if it is another error.
func Stack(err error) []byte {
	if p, ok := errors.AsType[*Error](err); ok {
		return p.Stack
	}
	return nil
}
