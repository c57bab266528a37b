// Package defaults returns options with their default values. The defaults are in the tags of kong
// only.
package defaults

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// Of returns options with the defaults of their tags. It panics if a tag is invalid, because tags
// are part of the program.
func Of[C any]() (options C) {
	if err := kong.ApplyDefaults(&options); err != nil {
		panic(fmt.Sprintf("defaults of %T: %v", options, err))
	}
	return options
}
