// Package progress tells a person how far something long has come.
package progress

import "fmt"

// Func is told in words what is being done. It may be nil, which tells nobody.
type Func func(text string)

// Say tells it what the format and its arguments make, as fmt.Sprintf does.
func (f Func) Say(format string, args ...any) {
	if f != nil {
		f(fmt.Sprintf(format, args...))
	}
}
