package config

import (
	"os"

	"github.com/alecthomas/kong"
)

// Given returns the names of the flags that the command was given, be it on the command
// line, in the environment or in a configuration file: what has its default is not
// among them.
func Given(ctx *kong.Context) map[string]bool {
	given := make(map[string]bool)
	for _, p := range ctx.Path {
		if p.Flag != nil {
			given[p.Flag.Name] = true
		}
	}
	for _, flag := range ctx.Flags() {
		for _, name := range flag.Envs {
			if _, ok := os.LookupEnv(name); ok {
				given[flag.Name] = true
			}
		}
	}
	return given
}
