package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"seine/internal/run/config"
)

// model returns the commands as kong knows them.
func model(t *testing.T) *kong.Application {
	t.Helper()
	var c cli
	parser, err := config.New(&c, "seine", "", kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// A person who asks for help sees the command as it would be typed.
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

// What a command takes from the environment is in the list by which misspelt names are told.
func TestVariablesAreListed(t *testing.T) {
	known := config.Variables()
	for _, command := range model(t).Leaves(false) {
		for _, group := range command.AllFlags(false) {
			for _, flag := range group {
				for _, name := range flag.Envs {
					if !slices.Contains(known, name) {
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
