package config

import (
	"os"
	"slices"

	"github.com/alecthomas/kong"
)

// Given returns the names of the flags that are set on the command line, in the environment or in a
// configuration file. It omits flags that have their defaults.
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

// Typed returns those of flags that are set on the command line, with their dashes. Values of the
// environment and of configuration files apply to several commands, and may not be meant for this
// one.
func Typed(ctx *kong.Context, flags ...string) (typed []string) {
	for _, p := range ctx.Path {
		if p.Flag != nil && !p.Resolved && slices.Contains(flags, p.Flag.Name) && !slices.Contains(typed, "--"+p.Flag.Name) {
			typed = append(typed, "--"+p.Flag.Name)
		}
	}
	return typed
}

// DropUntyped removes the values of the selected flags that come from the environment or a
// configuration file. It returns their sources, such as SEINE_NATS_URL. Call it in a hook before
// kong applies values.
func DropUntyped(ctx *kong.Context, which func(*kong.Flag) bool) (where []string) {
	var kept []*kong.Path
	for _, p := range ctx.Path {
		if p.Flag != nil && p.Resolved && which(p.Flag) {
			where = append(where, p.Flag.Name+" of the configuration file")
			continue
		}
		kept = append(kept, p)
	}
	ctx.Path = kept
	for _, flag := range ctx.Flags() {
		for _, name := range flag.Envs {
			if _, ok := os.LookupEnv(name); ok && which(flag) && !flag.Target.IsZero() {
				where = append(where, name)
				flag.Target.SetZero()
			}
		}
	}
	return where
}

// Flags returns the names of the flags of a struct with kong's tags. of is a pointer to the struct.
func Flags(of any) (names []string) {
	k, err := New(of, "flags", "", kong.NoDefaultHelp())
	if err != nil {
		panic(err) // a mistake in the tags
	}
	for _, flag := range k.Model.Flags {
		names = append(names, flag.Name)
	}
	return names
}
