package config

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// places are the flags that name a destination. Repeating one suggests that both destinations are
// written. Of other repeated flags, the last applies.
var places = map[string]bool{"out": true, "to": true}

// RejectRepeated returns an error for a flag of places that is given more than once.
func RejectRepeated(ctx *kong.Context) error {
	given := make(map[string]bool)
	for _, p := range ctx.Path {
		if p.Flag == nil || p.Resolved || !places[p.Flag.Name] {
			continue
		}
		if given[p.Flag.Name] {
			return fmt.Errorf("--%s is given more than once: run it once for each place", p.Flag.Name)
		}
		given[p.Flag.Name] = true
	}
	return nil
}
