// Package lazyregexp compiles regular expressions when they are first used. A command uses few of all that there are;
// compiling the others would take a tenth of the time that it takes to start.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New returns a function that returns the expression. One that is not valid panics then, and at once in tests.
func New(text string) func() *regexp.Regexp {
	get := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
	if strings.HasSuffix(os.Args[0], ".test") {
		get()
	}
	return get
}
