// Package defaults returns options as they are when no flag is set. Defaults are in the tags of kong only.
package defaults

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// Of returns options with the defaults of their tags, which are part of the program: it panics if one is wrong.
func Of[C any]() (options C) {
	if err := kong.ApplyDefaults(&options); err != nil {
		panic(fmt.Sprintf("defaults of %T: %v", options, err))
	}
	return options
}
