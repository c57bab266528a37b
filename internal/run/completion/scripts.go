package completion

import (
	_ "embed" // the scripts
	"io"
	"strings"

	"seine/internal/base/safeprint"
)

// Command is the first word of the command line by which the scripts ask; what
// follows is for Complete, and the answer is what Print writes.
const Command = "__complete"

//go:embed bash.sh
var bash string

//go:embed zsh.sh
var zsh string

//go:embed fish.fish
var fish string

// Scripts are the completion scripts, by the name of their shell.
var Scripts = map[string]string{"bash": bash, "zsh": zsh, "fish": fish}

// Print writes an answer for the scripts: the kind, then a word a line with what
// it is about after a tab.
func Print(w io.Writer, a Answer) {
	safeprint.Fprintln(w, a.Kind)
	for _, word := range a.Words {
		about, _, _ := strings.Cut(word.About, "\n")
		safeprint.Fprintf(w, "%s\t%s\n", word.Text, about)
	}
}
