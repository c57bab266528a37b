package config

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"seine/internal/base/safeprint"
)

// groups are the headings under which --help lists flags; a flag names its own with the tag group.
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

// basic is the tag of the flags that --help lists. It lists all flags of a command that marks none.
const basic = "basic"

// allFlag prints the help of a command with all of its flags.
type allFlag bool

// BeforeReset is called by kong where the flag is given, before it checks the rest of the command line.
func (allFlag) BeforeReset(app *kong.Kong, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(helpOptions, ctx); err != nil {
		return fmt.Errorf("print help: %w", err)
	}
	safeprint.Fprintf(app.Stdout, "\n%s\n", EnvironmentNote)
	app.Exit(0)
	return nil
}

// EnvironmentNote says how the names of environment variables follow from those of flags.
const EnvironmentNote = "Environment variables set flags, too: SEINE_LOG_LEVEL sets --log-level."

var helpOptions = kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100, ValueFormatter: HelpText}

// printHelp prints the help of a command with its basic flags.
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

// hideMore hides the flags of a command that are not basic, if any is, and returns their number.
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

// HelpText is the help of a flag or an argument with its default, which kong shows only in place of the
// placeholder of a flag, and with its environment variable, if the flag's name does not give it.
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

// variable is the environment variable that sets a flag.
func variable(flag string) string {
	return EnvPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
