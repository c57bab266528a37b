package main

import (
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
