package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Flag is an option of a command, as its help tells it.
type Flag struct {
	Name string // without the dashes
	Env  string // its variable
	Help string
}

// commandOf is what runs a component: a command with its arguments.
func commandOf(component string) []string {
	if component == "serve" {
		return []string{"seine", "serve"}
	}
	return []string{component}
}

// Components are the components of the chart that have options.
var Components = []string{"frontier", "fetcher", "renderer", "parser", "writer", "serve"}

// Binaries builds the commands of the repository into a folder, or finds them there up to date.
func Binaries(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find %s: %w", dir, err)
	}
	args := []string{"build", "-trimpath", "-pgo=internal/release/cpu.pgo", "-o", dir + string(filepath.Separator)}
	for _, name := range []string{"frontier", "fetcher", "renderer", "parser", "writer", "seine"} {
		args = append(args, "./cmd/"+name)
	}
	build := exec.Command("go", args...)
	build.Dir = Root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the commands: %w\n%s", err, out)
	}
	return nil
}

var (
	flagStart = regexp.MustCompile(`(?m)^ +(?:-\w, +)?--(?:\[no-\])?([a-z0-9-]+)`)
	flagEnv   = regexp.MustCompile(`\(\$(\w+)(?:, \$\w+)*\)`)
	heading   = regexp.MustCompile(`(?m)^\S.*$`) // of a group of flags, or what follows the last one
)

// withoutVariable are the flags that no variable sets.
var withoutVariable = []string{"help", "help-all", "version"}

// Flags asks a command in dir for its options.
func Flags(dir, component string) ([]Flag, error) {
	command := commandOf(component)
	args := append(command[1:len(command):len(command)], "--help-all")
	out, err := exec.Command(filepath.Join(dir, command[0]), args...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s --help: %w", component, err)
	}
	_, text, found := strings.Cut(string(out), "\nFlags:\n")
	if !found {
		return nil, fmt.Errorf("%s --help lists no flags", component)
	}
	text = heading.ReplaceAllString(text, "")
	var all []Flag
	starts := flagStart.FindAllStringSubmatchIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		words := strings.Join(strings.Fields(text[at[0]:end]), " ")
		f := Flag{Name: text[at[2]:at[3]]}
		if slices.Contains(withoutVariable, f.Name) {
			continue
		}
		f.Env = "SEINE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if env := flagEnv.FindStringSubmatch(words); env != nil {
			f.Env = env[1]
		}
		_, help, _ := strings.Cut(flagEnv.ReplaceAllString(words, ""), " ")
		f.Help = strings.TrimSuffix(strings.TrimSpace(help), ".")
		all = append(all, f)
	}
	return all, nil
}
