package config

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"seine/internal/base/safeprint"
)

// groups are the headings of flags and commands in --help. A flag selects one with the tag group.
var groups = []kong.Group{
	{Key: "start", Title: "Start:"},
	{Key: "scope", Title: "Scope:"},
	{Key: "pace", Title: "Pace:"},
	{Key: "records", Title: "Records:"},
	{Key: "output", Title: "Output:"},
	{Key: "archive", Title: "Archive:"},
	{Key: "rendering", Title: "Rendering:"},
	{Key: "state", Title: "State:"},
	{Key: "streams", Title: "Streams:"},
	{Key: "nats", Title: "NATS:"},
	{Key: "access", Title: "Access:"},
	{Key: "observability", Title: "Observability:"},

	{Key: "crawl", Title: "Crawl:"},
	{Key: "observe", Title: "Observe:"},
	{Key: "control", Title: "Control:"},
	{Key: "data", Title: "Output data:"},
	{Key: "serve", Title: "Serve:"},
	{Key: "cluster", Title: "Cluster:"},
	{Key: "tools", Title: "Tools:"},
}

// basic is the tag of flags that --help lists. If no flag of a command has it, --help lists all.
const basic = "basic"

// allFlag prints the help of a command with all of its flags.
type allFlag bool

// BeforeReset is called by kong at the flag, before kong validates the rest of the command line.
func (allFlag) BeforeReset(app *kong.Kong, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(helpOptions, ctx); err != nil {
		return fmt.Errorf("print help: %w", err)
	}
	safeprint.Fprintf(app.Stdout, "\n%s\n", EnvironmentNote)
	app.Exit(0)
	return nil
}

// EnvironmentNote explains how environment variables are named.
const EnvironmentNote = "Environment variables set flags, too: SEINE_LOG_LEVEL sets --log-level."

var helpOptions = kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100, ValueFormatter: HelpText}

// printHelp prints the help of a command with its basic flags only.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	hidden := hideMore(node)
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return fmt.Errorf("print help: %w", err)
	}
	if hidden > 0 && !options.Summary {
		safeprint.Fprintf(ctx.Stdout, "\n%d more flags: %s --help-all\n%s\n", hidden, node.FullPath(), EnvironmentNote)
	}
	return nil
}

// hideMore hides the flags of a command that are not basic, and returns their number. If no flag is
// basic, it hides none.
func hideMore(node *kong.Node) (hidden int) {
	var more []*kong.Flag
	marked := false
	for _, flag := range node.Flags {
		if flag.Tag.Has(basic) {
			marked = true
		} else if !flag.Hidden && flag.Group != nil {
			more = append(more, flag)
		}
	}
	if !marked {
		return 0
	}
	for _, flag := range more {
		flag.Hidden = true
	}
	return len(more)
}

// HelpText returns the help of a flag or an argument. It adds the default, which kong shows only
// for a flag without a placeholder, and the environment variable if that does not follow from the
// flag's name.
func HelpText(v *kong.Value) string {
	text := strings.TrimSuffix(v.Help, ".")
	shown := v.Flag != nil && v.Flag.PlaceHolder == "" || strings.Contains(v.Help, "(default")
	if v.HasDefault && v.Default != "" && !shown {
		text += " (default " + v.Default + ")"
	}
	if v.Flag != nil && len(v.Flag.Envs) > 0 && v.Flag.Envs[0] != variable(v.Flag.Name) {
		text += " ($" + v.Flag.Envs[0] + ")"
	}
	if text != "" {
		text += "."
	}
	return text
}

// variable returns the environment variable of a flag.
func variable(flag string) string {
	return EnvPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
