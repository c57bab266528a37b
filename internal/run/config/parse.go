package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"seine/internal/base/lazyregexp"
)

// Parse parses the arguments of a command. Its errors name the flag and the remedy.
func Parse(k *kong.Kong, args []string) (*kong.Context, error) {
	ctx, err := k.Parse(args)
	if err != nil {
		return nil, reword(withHelp(err))
	}
	return ctx, RejectRepeated(ctx)
}

// withHelp adds a flag's help to the error for a missing value.
func withHelp(err error) error {
	failed, parsed := errors.AsType[*kong.ParseError](err)
	m := noValue().FindStringSubmatch(err.Error())
	if m == nil || !parsed {
		return err
	}
	for _, f := range failed.Context.Flags() {
		if "--"+f.Name == m[1] {
			return fmt.Errorf("%s: needs a value: %s", m[1], strings.TrimSuffix(f.Help, "."))
		}
	}
	return err
}

// negative matches kong's error for a value that begins with a minus, which kong takes for a flag.
var negative = lazyregexp.New(`^(--[a-z0-9-]+): expected .* but got "(-[0-9.][^"]*)" \(short flag\)`)

// emptyChoice matches kong's error for a flag with choices whose default is empty.
var emptyChoice = lazyregexp.New(`^(.*) must be one of "",(.*)$`)

// reword replaces misleading errors of kong.
func reword(err error) error {
	if m := negative().FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s %s: a value that begins with - is written with an equals sign: %s=%s", m[1], m[2], m[1], m[2])
	}
	if m := emptyChoice().FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s must be one of %s", m[1], m[2])
	}
	if m := wrongNumber().FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s: must be a number, such as 500, and not %s", m[1], m[2])
	}
	if m := noValue().FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s: needs a value", m[1])
	}
	if better, ok := hint(err.Error()); ok {
		return errors.New(better)
	}
	return err
}
