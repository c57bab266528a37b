package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"seine/internal/run/config"
)

// model returns kong's model of the commands.
func model(t *testing.T) *kong.Application { return modelOf(t, new(cli)) }

func modelOf(tb testing.TB, grammar any) *kong.Application {
	tb.Helper()
	parser, err := config.New(grammar, "seine", "", kong.Vars{"version": ""})
	if err != nil {
		tb.Fatal(err)
	}
	return parser.Model
}

// The help of every command shows an example of how to type it.
func TestHelpOfEveryCommandHasAnExample(t *testing.T) {
	for _, command := range model(t).Leaves(true) {
		if example := "  " + command.FullPath(); !strings.Contains("\n"+command.Detail, "\n"+example) {
			t.Errorf("%s --help has no line that begins with %q, but:\n%s", command.FullPath(), example, command.Detail)
		}
		if strings.HasPrefix(command.Detail, " ") {
			t.Errorf("%s --help begins with an example, which loses its place: a word must come before it", command.FullPath())
		}
		if !strings.HasSuffix(command.Help, ".") {
			t.Errorf("%s says %q, which is no sentence", command.FullPath(), command.Help)
		}
	}
}

// The model of a single command has the same help as the model of all commands.
func TestCommandAloneHasTheSameHelp(t *testing.T) {
	all := model(t)
	for _, command := range all.Children {
		alone := modelOf(t, grammar([]string{command.Name}))
		if len(alone.Children) != 1 || len(all.Children) < 20 {
			t.Fatalf("%d commands for %s, %d for all", len(alone.Children), command.Name, len(all.Children))
		}
		for i, leaf := range (&kong.Node{Children: []*kong.Node{command}}).Leaves(false) {
			got := alone.Leaves(false)[i]
			if got.FullPath() != leaf.FullPath() || got.Help != leaf.Help || got.Detail != leaf.Detail ||
				!slices.Equal(flagsOf(got), flagsOf(leaf)) {
				t.Errorf("%s alone has other help", leaf.FullPath())
			}
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"crwal"}, {"crawl", "--config", "f"}, {"crawl", "--config=f"}} {
		if _, whole := grammar(args).(*cli); !whole {
			t.Errorf("seine %q knows a part of the commands alone", args)
		}
	}
	t.Setenv("SEINE_CONFIG", "f")
	if _, whole := grammar([]string{"crawl"}).(*cli); !whole {
		t.Error("with a configuration file in the environment, a part of the commands alone is known")
	}
}

// flagsOf returns the flags of a command as in its help.
func flagsOf(command *kong.Node) (flags []string) {
	for _, group := range command.AllFlags(false) {
		for _, flag := range group {
			flags = append(flags, flag.Summary()+flag.Help+strings.Join(flag.Envs, " "))
		}
	}
	return flags
}

// BenchmarkModel builds the model by which kong parses the arguments.
func BenchmarkModel(b *testing.B) {
	for name, args := range map[string][]string{"all": nil, "crawl": {"crawl"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				modelOf(b, grammar(args))
			}
		})
	}
}

// The environment variables of all commands are in the list for detecting misspelt names.
func TestVariablesAreListed(t *testing.T) {
	for _, command := range model(t).Leaves(false) {
		for _, group := range command.AllFlags(false) {
			for _, flag := range group {
				for _, name := range flag.Envs {
					if len(config.UnknownVariables([]string{name + "="})) > 0 {
						t.Errorf("%s --%s: internal/run/config/variables.txt does not have %s", command.FullPath(), flag.Name, name)
					}
				}
			}
		}
	}
}

func TestMisspeltVariableIsTold(t *testing.T) {
	t.Setenv("SEINE_WORKRES", "4")
	_, _, stderr := seine(t, "spec", "schema")
	says(t, "a command", stderr, "SEINE_WORKRES", "did you mean SEINE_WORKERS?")
}
