package completion

import (
	_ "embed" // the scripts
	"io"
	"strings"

	"seine/internal/base/safeprint"
)

// Command is the first argument when a script calls the command. The following arguments are those
// of Complete; Print writes the reply.
const Command = "__complete"

//go:embed bash.sh
var bash string

//go:embed zsh.sh
var zsh string

//go:embed fish.fish
var fish string

// Scripts maps the name of a shell to its completion script.
var Scripts = map[string]string{"bash": bash, "zsh": zsh, "fish": fish}

// Print writes an answer for the scripts: the kind on the first line, then one word per line with
// its description after a tab.
func Print(w io.Writer, a Answer) {
	safeprint.Fprintln(w, a.Kind)
	for _, word := range a.Words {
		about, _, _ := strings.Cut(word.About, "\n")
		safeprint.Fprintf(w, "%s\t%s\n", word.Text, about)
	}
}
