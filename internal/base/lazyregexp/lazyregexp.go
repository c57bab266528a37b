// Package lazyregexp compiles regular expressions at their first use. A command uses few of the
// expressions in the program, and compiling all would take a tenth of its start-up time.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New returns a function that returns the compiled expression. An invalid expression panics at the
// first use, and in tests at once.
func New(text string) func() *regexp.Regexp {
	get := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
	if strings.HasSuffix(os.Args[0], ".test") {
		get()
	}
	return get
}
