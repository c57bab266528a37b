package config

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// places are the flags that say where output goes. Two of one mean that
// both are written; of other flags the last one holds, as is usual.
var places = map[string]bool{"out": true, "to": true}

// RejectRepeated reports a flag that names a place and was given more than once.
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
