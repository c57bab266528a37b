package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"seine/internal/run/config"
	"seine/internal/testing/generated"
)

var (
	variable     = regexp.MustCompile(`SEINE_[A-Z0-9_]+`)
	optionInHelp = regexp.MustCompile(`(?m)^(?: {2}| {6})--([a-z0-9-]+)(\S*)((?: .*|\n {20,}.*)*)`)
)

// The help of each stage shows the command as a user types it.
func TestHelpOfEveryStageHasAnExample(t *testing.T) {
	for _, stage := range []string{"frontier", "fetcher", "renderer", "parser", "writer"} {
		out, err := exec.Command(filepath.Join(bin, stage), "--help").CombinedOutput()
		if err != nil {
			t.Fatalf("%s --help: %v: %s", stage, err, out)
		}
		wantText(t, string(out), "    "+stage+" --nats nats://")
		for _, name := range variable.FindAllString(string(out), -1) {
			if len(config.UnknownVariables([]string{name + "="})) > 0 && name != "SEINE_SECRET_NAME" {
				t.Errorf("%s: internal/run/config/variables.txt does not have %s", stage, name)
			}
		}
	}
}

// option is an option of a stage, as a line of docs/reference/cli.md.
type option struct{ name, line string }

// optionsOf reads the help of a stage.
func optionsOf(t *testing.T, stage string) (all []option) {
	t.Helper()
	out, err := exec.Command(filepath.Join(bin, stage), "--help-all").CombinedOutput()
	if err != nil {
		t.Fatalf("%s --help-all: %v: %s", stage, err, out)
	}
	for _, m := range optionInHelp.FindAllStringSubmatch(string(out), -1) {
		value := strings.NewReplacer(`="`, "=", `"`, "").Replace(m[2])
		text := strings.ReplaceAll(strings.Join(strings.Fields(m[3]), " "), "*", `\*`)
		all = append(all, option{m[1], "- `--" + m[1] + value + "`: " + text + "\n"})
	}
	if len(all) < 15 {
		t.Errorf("%s has %d options", stage, len(all))
	}
	return all
}

// docs/reference/cli.md has the options of all stages, each once, in the first section that fits.
func TestGeneratedOptions(t *testing.T) {
	listed := map[string]bool{"help": true, "help-all": true, "version": true, "config": true}
	list := func(place, stage string, fits func(o option) bool) {
		text := ""
		for _, o := range optionsOf(t, stage) {
			if !listed[o.name] && fits(o) {
				listed[o.name] = true
				text += o.line
			}
		}
		generated.Check(t, "../../../docs/reference/cli.md", place, text)
	}
	list("options of NATS", "parser", func(o option) bool { return strings.HasPrefix(o.name, "nats") })
	own := map[string]bool{"workers": true, "prefetch": true, "max-text": true, "max-links": true}
	list("options of all stages", "parser", func(o option) bool { return !own[o.name] })
	shared := listed
	for _, stage := range []string{"frontier", "fetcher", "renderer", "parser", "writer"} {
		if stage != "renderer" { // which has the options of the fetcher
			listed = maps.Clone(shared)
		}
		list("options of the "+stage, stage, func(o option) bool { return !strings.HasPrefix(o.name, "parser-") })
	}
}

// The completion scripts work in the shells that load them. Missing shells are skipped, except
// bash.
func TestCompletionInShells(t *testing.T) {
	ask := func(t *testing.T, shell string, args ...string) string {
		t.Helper()
		path, err := exec.LookPath(shell)
		if err != nil && os.Getenv("CI") == "" {
			t.Skip(shell, "is not here: make shells brings it")
		}
		cmd := exec.Command(path, args...)
		cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", shell, err, out)
		}
		return string(out)
	}
	const inBash = `source <(seine completion bash)
complete -p seine >&2 || exit 1
for words in "seine sta" "seine dead li" "seine dead list --stage p" "seine crawl --sync = a"; do
	COMP_WORDS=($words); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _seine; echo "$words: ${COMPREPLY[*]}"
done`
	t.Run("bash", func(t *testing.T) {
		wantText(t, ask(t, "bash", "--norc", "-c", inBash), "sta: status\n", "li: list\n", "stage p: parser\n", "sync = a: always\n")
	})
	t.Run("fish", func(t *testing.T) {
		const text = `seine completion fish | source
complete -C "seine sta"; complete -C "seine dead list --stage p"`
		wantText(t, ask(t, "fish", "--no-config", "-c", text), "status\tShow the status", "parser\n")
	})
	t.Run("zsh", func(t *testing.T) {
		const text = `autoload -Uz compinit && compinit -u -D
source <(seine completion zsh) && print -r -- ${_comps[seine]}
compadd() { : }; _describe() { print -r -- ${(P)@[-1]} }; _files() { print files }
words=(seine dead list --stage p) CURRENT=5 _seine
words=(seine cat '') CURRENT=3 _seine`
		wantText(t, ask(t, "zsh", "-f", "-c", text), "_seine\n", "parser:", "files\n")
	})
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("it does not say %q, but:\n%s", p, text)
		}
	}
}
