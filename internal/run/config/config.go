// Package config reads the configuration of a command in the way that all of Seine's commands
// share: a YAML file, overridden by SEINE_* environment variables, overridden by flags. All three
// use the same names, and an unknown name is an error.
package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v4"

	"seine/internal/base/suggest"
)

// EnvPrefix is the prefix of environment variables: --per-host is SEINE_PER_HOST.
const EnvPrefix = "SEINE"

// File is the flag that names a YAML file. Embed it in the struct for New.
type File struct {
	Config  kong.ConfigFlag `help:"YAML file with flags (log_level: debug), not a spec." placeholder:"FILE"`
	HelpAll allFlag         `help:"Show help with all flags." env:"-"`
}

// New returns a parser that fills cfg, a pointer to a struct with kong's tags.
func New(cfg any, name, about string, options ...kong.Option) (*kong.Kong, error) {
	options = append([]kong.Option{
		kong.Name(name), kong.Description(about),
		kong.DefaultEnvars(EnvPrefix), kong.PostBuild(joinS3), kong.Configuration(load), kong.ValueFormatter(HelpText),
		kong.ConfigureHelp(helpOptions), kong.Help(printHelp), kong.ExplicitGroups(groups),
	}, options...)
	k, err := kong.New(cfg, options...)
	if err != nil {
		return nil, fmt.Errorf("define the options of %s: %w", name, err)
	}
	return k, nil
}

// joinS3 names the variables of --s3-region and --from-s3-region SEINE_S3_REGION and
// SEINE_FROM_S3_REGION. By default kong separates the digit.
func joinS3(k *kong.Kong) error {
	return kong.Visit(k.Model, func(n kong.Visitable, next kong.Next) error {
		if flag, ok := n.(*kong.Flag); ok {
			for _, envs := range [][]string{flag.Envs, flag.Tag.Envs} {
				for i, name := range envs {
					envs[i] = strings.Replace(name, "_S_3_", "_S3_", 1)
				}
			}
		}
		return next(nil)
	})
}

// file holds the options of a YAML file, by flag name. A value is a string, or a list of strings as
// []any, which kong treats as a repeated flag.
type file map[string]any

func load(r io.Reader) (kong.Resolver, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read configuration file: %w", err)
	}
	var values map[string]any
	if len(text) > 0 {
		if err := yaml.Load(text, &values); err != nil {
			return nil, fmt.Errorf("read configuration file: %w", err)
		}
	}
	f := make(file, len(values))
	for key, v := range values {
		written, err := asWritten(v)
		if err != nil {
			return nil, fmt.Errorf("read configuration file: %s: %w", key, err)
		}
		f[strings.ReplaceAll(key, "_", "-")] = written
	}
	return f, nil
}

// asWritten returns a value in the form of a flag's value; for a list, each member.
func asWritten(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case map[string]any, map[any]any:
		return nil, errors.New("options are not nested: write the flag's whole name as the key")
	case []any:
		members := make([]any, len(v))
		for i, m := range v {
			switch m.(type) {
			case map[string]any, map[any]any, []any:
				return nil, errors.New("each member of the list must be a plain text")
			}
			members[i] = fmt.Sprint(m)
		}
		return members, nil
	}
	return fmt.Sprint(v), nil
}

// Validate rejects keys that are not flags of the command.
func (f file) Validate(app *kong.Application) error {
	var known []string
	_ = kong.Visit(app, func(n kong.Visitable, next kong.Next) error {
		if flag, ok := n.(*kong.Flag); ok {
			known = append(known, flag.Name)
		}
		return next(nil)
	})
	slices.Sort(known)
	known = slices.Compact(known)
	for key := range f {
		if !slices.Contains(known, key) {
			meant := "keys are named like the flags"
			if near := suggest.Name(key, known); near != "" {
				meant = "did you mean " + near + "?"
			}
			return fmt.Errorf("configuration file: unknown key %q: %s", key, meant)
		}
	}
	return nil
}

// Resolve returns the file's value for a flag, unless an environment variable sets it. By default
// kong gives the file precedence.
func (f file) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return nil, nil
		}
	}
	v, ok := f[flag.Name]
	if !ok {
		return nil, nil
	}
	if _, list := v.([]any); list && !flag.IsSlice() {
		return nil, errors.New("configuration file: a list is for flags that may be repeated: write one value")
	}
	return v, nil
}

var _ kong.Resolver = file(nil)
